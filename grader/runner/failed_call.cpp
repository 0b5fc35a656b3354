// Locates and describes the first call of the CUDA runtime that failed.
#include "failed_call.hpp"

#include "source_facts.hpp"
#include "text/source_view.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace grading {

using simulator::wrong_pointer;

namespace {

constexpr std::size_t max_lines_named = 3;

bool calls(std::string_view line, std::string_view name)
{
    return holds_word(line, name) || (name == "cudaLaunchKernel" && line.find("<<<") != line.npos);
}

// How likely a cudaMemcpy in this line failed for the reason: it did not, may have, or must have,
// since that argument is named *_host, as lab.hpp names arrays of the host.
enum class blame : std::uint8_t { none, possible, certain };

blame blame_of(std::string_view line, wrong_pointer pointer)
{
    constexpr std::string_view call = "cudaMemcpy(";
    const std::size_t open = line.find(call), comma = line.find(',', open);
    if (pointer < wrong_pointer::destination_on_host || open == line.npos || comma == line.npos ||
        line.find("cudaMemcpy", comma) == line.npos)
        return blame::possible;
    const bool on_host =
        pointer == wrong_pointer::destination_on_host || pointer == wrong_pointer::source_on_host;
    const bool destination = pointer == wrong_pointer::destination_on_host ||
                             pointer == wrong_pointer::destination_on_device;
    const std::string_view direction =
        destination ? (on_host ? "ToDevice" : "ToHost") : (on_host ? "DeviceTo" : "HostTo");
    if (line.find("cudaMemcpyDefault") == line.npos && line.find(direction, comma) == line.npos)
        return blame::none;
    const std::size_t begin = destination ? open + call.size() : comma + 1;
    const std::string_view argument = line.substr(begin, line.find(',', begin) - begin);
    return on_host && argument.ends_with("_host") ? blame::certain : blame::possible;
}

// Returns those of the lines that are to blame.
std::vector<int> to_blame(const std::vector<int> &calling, std::string_view source,
                          wrong_pointer pointer)
{
    const std::vector<std::string> text = lines(without_comments(source));
    std::vector<int> possible, certain;
    for (int number : calling) {
        const blame b = blame_of(text[static_cast<std::size_t>(number) - 1], pointer);
        if (b != blame::none) possible.push_back(number);
        if (b == blame::certain) certain.push_back(number);
    }
    return certain.size() == 1 ? certain : possible.empty() ? calling : possible;
}

// Returns the lines, from 1, of a C++ source that call `name`, outside of comments; for
// cudaLaunchKernel, lines with <<<. If the function `within` has some, only these.
std::vector<int> lines_that_call(std::string_view name, std::string_view source,
                                 std::string_view within)
{
    std::vector<int> all, inside;
    const std::vector<line_range> functions = functions_of(source);
    int number = 0;
    for (const std::string &line : lines(without_comments(source))) {
        if (++number; !calls(line, name)) continue;
        all.push_back(number);
        if (std::any_of(functions.begin(), functions.end(), [&](const line_range &f) {
                return f.name == within && f.first <= number && number <= f.last;
            }))
            inside.push_back(number);
    }
    return inside.empty() ? all : inside;
}

} // namespace

std::string sentence_of(const failed_call &f, std::string_view source, std::string_view within)
{
    const std::vector<int> calling =
        to_blame(lines_that_call(f.name, source, within), source, f.pointer);
    std::string where;
    if (calling.size() == 1)
        where = fmt::format(" on line {}", calling[0]);
    else if (!calling.empty() && calling.size() <= max_lines_named)
        where = fmt::format(" (on one of the lines {})", fmt::join(calling, ", "));
    const std::string what = f.name == "cudaLaunchKernel" ? "a kernel's launch" : f.name;
    const std::string why = f.why.empty() ? "" : ": " + f.why;
    return fmt::format("{}{} failed with {}{}.", what, where, f.error, why);
}

std::string hint_of(const failed_call &f)
{
    if (f.pointer == wrong_pointer::null)
        return "A pointer is null, or has no value, until memory is allocated for it: "
               "cudaMalloc(&x, bytes) stores the address of device memory in x, and comes first.";
    if (f.pointer == wrong_pointer::device_variable)
        return "cudaMemcpyToSymbol(variable, from, bytes) copies into a variable in device memory, "
               "cudaMemcpyFromSymbol(to, variable, bytes) out of it: by its name, without &.";
    if (f.pointer != wrong_pointer::none && (f.name == "cudaMemcpy" || f.name == "cudaMemcpyAsync"))
        return "The arguments are (to, from, bytes, direction): the target comes first. "
               "cudaMemcpyHostToDevice copies to the device, cudaMemcpyDeviceToHost back from it. "
               "A pointer leads to device memory once cudaMalloc has stored an address in it.";
    if (f.name == "cudaFree")
        return "Begin with that call: cudaFree takes the pointers that cudaMalloc stored, each "
               "once.";
    return "Begin with the call that failed, and look at the error that every call returns: what "
           "fails unseen shows later, as something else.";
}

} // namespace grading
