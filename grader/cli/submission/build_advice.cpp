// Knows the errors of nvcc that the mistakes of a first course cause.
#include "build_advice.hpp"

#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
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

// The name of CUDA's that an undefined one was probably to be; empty: none.
std::string meant(const std::string &name)
{
    static const std::vector<std::string> known = words_between_blanks(
        "threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp "
        "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __popc "
        "__clz __ffs atomicAdd atomicMax atomicMin atomicCAS atomicExch __threadfence "
        "rsqrtf cudaMalloc cudaMallocAsync cudaFree cudaMemcpy cudaMemcpyAsync "
        "cudaMemcpyToSymbol cudaMemcpyHostToDevice cudaMemcpyDeviceToHost "
        "cudaMemcpyDeviceToDevice cudaMemset cudaGetLastError cudaDeviceSynchronize "
        "cudaStreamSynchronize cudaEventRecord cudaStreamWaitEvent __shared__ __device__ "
        "__constant__ __global__");
    std::vector<std::string> in_lower; // case is the usual mistake
    for (const std::string &k : known) in_lower.push_back(lower(k));
    const auto at = std::ranges::find(in_lower, nearest(lower(name), in_lower));
    return at == in_lower.end() ? "" : known[static_cast<std::size_t>(at - in_lower.begin())];
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

namespace {

std::string first_error_in(const std::vector<std::string> &all)
{
    for (const char *sign : {"error:", "error #", "error"}) // a warning may mention errors
        for (const std::string &line : all)
            if (line.find(sign) != line.npos) return line;
    return all.empty() ? "the compiler gave no reason" : all[0];
}

} // namespace

std::string first_error(const std::string &said) { return first_error_in(lines(said)); }

std::string build_advice(const std::string &said)
{
    const std::vector<std::string> all = lines(said);
    const std::string first = first_error_in(all);
    compile_error e{first, {}};
    const auto at = std::ranges::find(all, first);
    const auto last = at + std::min<std::ptrdiff_t>(4, all.end() - at);
    if (const auto mark = std::find_if(at, last, is_caret_line); mark != last)
        e.source = mark[-1], e.caret = mark->find('^');

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
