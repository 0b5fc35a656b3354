// Knows the errors of nvcc that the mistakes of a first course cause.
#include "build_advice.hpp"

#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

// An error with its source line, and the place of the caret there.
struct compile_error {
    std::string_view said, source;
    std::size_t caret = std::string_view::npos;

    bool says(std::string_view words) const { return said.find(words) != said.npos; }
};

// True if the argument of a cudaMemcpy that the compiler rejects was given to the wrong place: a
// direction is wanted, or the first argument is not to be written.
bool exchanged_in_memcpy(const compile_error &e)
{
    constexpr std::string_view call = "cudaMemcpy(";
    const std::size_t begin = e.source.find(call);
    if (begin == e.source.npos || e.caret == e.source.npos || e.caret < begin + call.size())
        return false;
    const std::string_view before =
        e.source.substr(begin + call.size(), e.caret - begin - call.size());
    if (before.find(')') != before.npos) return false;
    if (e.says("incompatible with parameter of type \"cudaMemcpyKind\"")) return true;
    return before.find(',') == before.npos && e.says("argument of type \"const ") &&
           e.says("incompatible with parameter of type \"void *\"");
}

// The number of letters to insert, delete or exchange until two names are equal, in any case.
std::size_t distance(const std::string &a, const std::string &b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t exchanged = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

// The name of CUDA's that an undefined one was probably to be; empty: none.
std::string meant(const std::string &name)
{
    static constexpr std::array known = {"threadIdx",
                                         "blockIdx",
                                         "blockDim",
                                         "gridDim",
                                         "warpSize",
                                         "__syncthreads",
                                         "__syncwarp",
                                         "__shfl_sync",
                                         "__shfl_up_sync",
                                         "__shfl_down_sync",
                                         "__shfl_xor_sync",
                                         "__ballot_sync",
                                         "__popc",
                                         "__clz",
                                         "__ffs",
                                         "atomicAdd",
                                         "atomicMax",
                                         "atomicMin",
                                         "atomicCAS",
                                         "atomicExch",
                                         "__threadfence",
                                         "rsqrtf",
                                         "cudaMalloc",
                                         "cudaMallocAsync",
                                         "cudaFree",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync",
                                         "cudaMemcpyToSymbol",
                                         "cudaMemcpyHostToDevice",
                                         "cudaMemcpyDeviceToHost",
                                         "cudaMemcpyDeviceToDevice",
                                         "cudaMemset",
                                         "cudaGetLastError",
                                         "cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventRecord",
                                         "cudaStreamWaitEvent",
                                         "__shared__",
                                         "__device__",
                                         "__constant__",
                                         "__global__"};
    if (name.size() < 5) return {};
    std::string best;
    std::size_t least = 3;
    for (const char *const k : known)
        if (const std::size_t d = distance(lower(name), lower(k)); d < least) best = k, least = d;
    return best;
}

std::string between(std::string_view text, std::string_view begin, std::string_view end)
{
    const std::size_t at = text.find(begin);
    if (at == text.npos) return {};
    text.remove_prefix(at + begin.size());
    return std::string(text.substr(0, text.find(end)));
}

std::string about_undefined(const compile_error &e)
{
    const std::string name = between(e.said, "identifier \"", "\" is undefined");
    if (const std::string other = meant(name); !other.empty() && other != name)
        return fmt::format("CUDA's name is {}", other);
    return fmt::format("declare {} before this line, or mend its spelling", name);
}

// About a call from the wrong side.
std::string about_call(const compile_error &e)
{
    const std::string called = between(e.said, "function(\"", "\")");
    const std::string name = called.substr(0, called.find('('));
    if (e.says("from a __host__ function"))
        return fmt::format("{} runs on the device: call it in a kernel", name);
    if (name == "min" || name == "max")
        return fmt::format("write {0} without std:: in code for the device: CUDA has its own {0}",
                           name);
    if (e.says("a constexpr __host__"))
        return "code for the device cannot call this function of the standard library: write "
               "what you need of it yourself";
    return fmt::format(
        "put __device__ before {0}, or __host__ __device__ if the host calls it, too", name);
}

std::string about_overload(const compile_error &e)
{
    const std::string name = between(e.said, "function \"", "\"");
    if (name == "cudaMalloc")
        return "cudaMalloc(&x, bytes) takes the address of a pointer, stores the new array's "
               "address there, and returns an error code";
    if (name.starts_with("atomic"))
        return fmt::format("an atomic takes the address of what it changes: {}(&x[i], value)",
                           name);
    if (name.starts_with("__shfl"))
        return fmt::format("{} takes (lanes, value, lane or distance); the value is one number "
                           "and no array",
                           name);
    return fmt::format("compare the types of the arguments with what {} takes", name);
}

} // namespace

std::string first_error(const std::string &said)
{
    const std::vector<std::string> all = lines(said);
    for (const char *sign : {"error:", "error #", "error"}) // a warning may mention errors
        for (const std::string &line : all)
            if (line.find(sign) != line.npos) return line;
    return all.empty() ? "the compiler gave no reason" : all[0];
}

std::string build_advice(const std::string &said)
{
    const std::vector<std::string> all = lines(said);
    const std::string first = first_error(said);
    const auto at = std::ranges::find(all, first);
    compile_error e{first, {}};
    for (auto line = at; line != all.end() && line - at < 4; ++line)
        if (line != at && line->find('^') != line->npos &&
            line->find_first_not_of(" ^~|") == line->npos)
            e.source = line[-1], e.caret = line->find('^');

    if (e.says("a __global__ function call must be configured"))
        return "a __global__ function is launched: between its name and its arguments stand the "
               "numbers of blocks and of threads per block, name<<<blocks, threads>>>(arguments)";
    if (e.source.find("<<<") == e.source.npos && e.source.find(">>(") != e.source.npos)
        return "a launch has three brackets on each side: name<<<blocks, threads>>>(arguments)";
    if (exchanged_in_memcpy(e))
        return "cudaMemcpy takes (to, from, bytes, direction), in this order: the target is the "
               "first, and the direction, such as cudaMemcpyHostToDevice, the last";
    if (e.says("\" is undefined") && !e.says("in device code")) return about_undefined(e);
    if (e.says("calling a ") && e.says(" is not allowed")) return about_call(e);
    if (e.says("no instance of overloaded function")) return about_overload(e);
    if (e.says("variable length array"))
        return "the size of an array in shared memory must be a constant, such as a constexpr int; "
               "or declare it extern __shared__ without a size, and give its bytes as the launch's "
               "third number";
    if (e.says("conversion function from \"const uint3\"") ||
        e.says("conversion function from \"const dim3\""))
        return "it has three parts: .x, .y and .z";
    if (e.says("a __global__ function must have a void return type"))
        return "a kernel returns nothing, since all threads run it: store the result in memory";
    if (e.says("must be a modifiable lvalue"))
        return "this is const, so it can only be read: is it the input instead of the output?";
    if (e.says("expected a \";\"")) return "a semicolon is missing before this place";
    return "mend the first error; the ones after it often follow from it";
}

} // namespace cli
