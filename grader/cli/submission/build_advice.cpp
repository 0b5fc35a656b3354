// Knows the errors of nvcc that the mistakes of a first course cause.
#include "build_advice.hpp"

#include "cli/support/strings.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

// An error, which may take several lines, with its source line, and the place of the caret there.
struct compile_error {
    std::string said;
    std::string_view source;
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

// A call in a source line.
struct line_call {
    std::string name;
    bool launch = false;
};

// The call whose arguments the caret is among, or at their end; no name: none.
line_call call_at(const compile_error &e)
{
    std::size_t at = std::min(e.caret, e.source.size());
    for (int open = 0; at > 0 && open < 1;) {
        --at;
        if (e.source[at] == '(') ++open;
        if (e.source[at] == ')') --open;
    }
    std::string_view before = e.source.substr(0, at);
    const bool launch = before.ends_with(">>>");
    if (launch) before = before.substr(0, before.rfind("<<<"));
    std::size_t begin = before.size();
    while (begin > 0 && grading::is_name_char(before[begin - 1])) --begin;
    return {std::string(before.substr(begin)), launch};
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

struct standard_header {
    std::string_view name, declares;
    bool of_c = false; // usable without std::, too
};

// The header of the standard library in which `name` is declared; without a name: not known.
standard_header header_of(const std::string &name)
{
    constexpr standard_header headers[] = {
        {"cstring", " strcpy strncpy strlen strcmp memcpy memset memmove ", true},
        {"cstdio", " printf snprintf puts ", true},
        {"algorithm", " min max swap sort copy fill reverse "},
        {"vector", " vector "},
        {"iostream", " cout cerr endl "}};
    for (const standard_header &header : headers)
        if (header.declares.find(" " + name + " ") != header.declares.npos) return header;
    return {};
}

std::string about_undefined(const compile_error &e)
{
    const std::string name = between(e.said, "identifier \"", "\" is undefined");
    if (const standard_header header = header_of(name); header.of_c)
        return fmt::format("if {} is that of the standard library: #include <{}>", name,
                           header.name);
    if (const std::string other = meant(name); !other.empty() && other != name)
        return fmt::format("CUDA's name is {}", other);
    return fmt::format("declare {} before this line, or mend its spelling", name);
}

// About a call from the wrong side.
std::string about_call(const compile_error &e)
{
    const std::string called = between(e.said, "function(\"", "\")");
    std::string name = called.substr(0, called.find_first_of("(<"));
    name.erase(0, name.find_last_of(" :") + 1);
    if (e.says("from a __host__ function"))
        return fmt::format("{} runs on the device: call it in a kernel", name);
    if (name == "cudaDeviceSynchronize")
        return "this is a call for the host; in a kernel the threads of a block wait for each "
               "other at __syncthreads()";
    if (name.starts_with("cuda") || name == "check" || name == "check_launch")
        return fmt::format("{} is a call for the host: it cannot stand in a kernel", name);
    if (name == "basic_ostream") return "kernels have no std::cout: printf works there";
    if (name == "min" || name == "max")
        return fmt::format("write {0} without std:: in code for the device: CUDA has its own {0}",
                           name);
    if (e.says("a constexpr __host__") || called.starts_with("std::"))
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
    if (name == "cudaMemcpyToSymbol")
        return "cudaMemcpyToSymbol takes (variable, from, bytes), in this order: the variable in "
               "device memory by its name, without &, and the address of what is copied";
    if (name == "cudaMemcpyFromSymbol")
        return "cudaMemcpyFromSymbol takes (to, variable, bytes), in this order: the address of "
               "the target, and the variable in device memory by its name, without &";
    if (name.starts_with("atomic"))
        return fmt::format("an atomic takes the address of what it changes: {}(&x[i], value)",
                           name);
    if (name.starts_with("__shfl"))
        return fmt::format("{} takes (lanes, value, lane or distance); the value is one number "
                           "and no array",
                           name);
    return fmt::format("compare the types of the arguments with what {} takes", name);
}

// The arguments of a function of the runtime that a first course calls; empty: not known.
std::string_view taken_by(std::string_view name)
{
    constexpr std::pair<std::string_view, std::string_view> all[] = {
        {"check", "check takes two arguments: check(error, \"what was called\")"},
        {"cudaGetDeviceCount", "cudaGetDeviceCount(&count) takes the address of an int, stores "
                               "the number there, and returns an error code"},
        {"cudaGetDevice", "cudaGetDevice(&device) takes the address of an int, stores the number "
                          "there, and returns an error code"},
        {"cudaGetDeviceProperties",
         "cudaGetDeviceProperties(&properties, device) takes the address of a cudaDeviceProp and "
         "the number of a device, in this order, and returns an error code"},
        {"cudaMemcpy", "cudaMemcpy takes (to, from, bytes, direction)"},
        {"cudaFree", "cudaFree takes the pointer that cudaMalloc stored"}};
    for (const auto &[function, takes] : all)
        if (name == function) return takes;
    return {};
}

std::string about_number_of_arguments(const compile_error &e)
{
    const line_call made = call_at(e);
    if (made.name.empty()) return "compare the call with the line that declares the function";
    if (const std::string_view takes = taken_by(made.name); !takes.empty())
        return std::string(takes);
    if (made.launch)
        return fmt::format("is {0} the kernel, a __global__ function, or the host function that "
                           "should launch it? If it is the kernel: give an argument for each "
                           "parameter in the line that declares {0}",
                           made.name);
    return fmt::format("give an argument for each parameter in the line that declares {}",
                       made.name);
}

// True if a value was given where a pointer to its type is wanted.
bool lacks_address(const compile_error &e)
{
    for (const auto &[from, to] : {std::pair{"argument of type \"", "with parameter of type \""},
                                   {"conversion function from \"", "\" to \""}}) {
        const std::string given = between(e.said, from, "\""), wanted = between(e.said, to, "\"");
        if (!given.empty() && given + " *" == wanted) return true;
    }
    return false;
}

std::string about_assignment(const compile_error &e)
{
    const std::size_t at = std::min(e.caret, e.source.size());
    const std::string_view target = e.source.substr(at, e.source.find('=', at) - at);
    if (target.find('[') != target.npos || target.starts_with('*'))
        return "this is const, so it can only be read: is it the input instead of the output?";
    return "if this is const, it can only be read; if it is an array, the = must copy one element "
           "(of a text, one character) at a time, in a loop";
}

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
    compile_error e{first, {}, std::string::npos};
    const auto at = std::ranges::find(all, first);
    const auto last = at + std::min<std::ptrdiff_t>(4, all.end() - at);
    if (const auto mark = std::find_if(at, last, is_caret_line); mark != last) {
        e.source = mark[-1], e.caret = mark->find('^');
        for (auto line = at + 1; line < mark - 1; ++line) e.said += *line;
    }

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
    if (e.says("\"const uint3\"") || e.says("\"const dim3\"") || e.says(" const uint3") ||
        e.says(" const dim3"))
        return "it has three parts: .x, .y and .z";
    if (e.says("a __global__ function must have a void return type"))
        return "a kernel returns nothing, since all threads run it: store the result in memory";
    if (e.says("must be a modifiable lvalue")) return about_assignment(e);
    if (e.says("many arguments in function call") || e.says("few arguments in function call"))
        return about_number_of_arguments(e);
    if (lacks_address(e)) {
        const std::string_view takes = taken_by(call_at(e).name);
        return takes.empty() ? "a pointer is wanted: give the address of the variable, with a & "
                               "before its name"
                             : std::string(takes);
    }
    if (e.says("type \"void\"") && e.source.find("<<<") != e.source.npos)
        return "a launch returns nothing: cudaGetLastError(), called after it, returns its error";
    if (e.says("namespace \"std\" has no member"))
        if (const standard_header header = header_of(between(e.said, "member \"", "\""));
            !header.name.empty())
            return header.name == "iostream"
                       ? "kernels have no std::cout: printf works there; host code needs "
                         "#include <iostream>"
                       : fmt::format("#include <{}>", header.name);
    if (e.says("must have pointer-to-object type") && e.source.find("][") != e.source.npos)
        return "this array has one index: column x of row y is element [y * width + x]";
    if (e.says("expected a \";\"")) return "a semicolon is missing before this place";
    return "mend the first error; the ones after it often follow from it";
}

} // namespace cli
