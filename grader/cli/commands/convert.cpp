// The convert command: reads a result, and writes it in the format of a course system.
#include "commands.hpp"

#include "cli/results/class_results.hpp"
#include "cli/results/formats/class_page.hpp"
#include "cli/results/formats/formats.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Turns errors with a file that the user named into usage errors.
template <typename F> void as_usage(F use, const char *what_to_do)
{
    try {
        use();
    } catch (const machine_error &e) {
        throw usage_error(fmt::format("{}. {}", e.what(), what_to_do));
    }
}

void write_file(const std::string &path, const std::string &text)
{
    std::error_code none;
    if (fs::exists(path, none) && !fs::is_regular_file(path, none))
        throw usage_error(fmt::format("{} is no file; nothing was written. Name another, or leave "
                                      "--output out for standard output.",
                                      path));
    fs::path folder = fs::absolute(path).parent_path();
    if (!fs::is_directory(folder))
        throw usage_error(fmt::format("cannot write {}: there is no folder {}. Name a file that "
                                      "can be written.",
                                      path, folder.string()));
    write_atomically(path, text);
}

void print(const std::string &text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw machine_error(cannot_write("standard output", errno));
}

void convert_for_github(const json &document, const std::string &output)
{
    constexpr std::size_t max_bytes = 1 << 20; // per step
    const char *of_step = std::getenv("GITHUB_STEP_SUMMARY");
    std::string path = output.empty() && of_step ? of_step : output, before;
    std::error_code none;
    if (output.empty() && fs::is_regular_file(path, none))
        as_usage([&] { before = read_text(path); }, "Name a file with --output.");
    if (!path.empty())
        write_file(path,
                   before + as_summary(document, max_bytes - std::min(max_bytes, before.size())));
    else
        fmt::print(stderr, "No summary was written: name a file with --output, or run this in a "
                           "step of GitHub Actions.\n");
    print(as_annotations(document));
}

// A student's own result, out of a class's.
std::string as_one_result(const json &document)
{
    return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string class_page_of(const convert_options &options)
{
    if (!options.student.empty())
        throw usage_error("--to page shows a whole class: leave --student out, or write the "
                          "student's own result with --to text.");
    return as_class_page(read_class_results(options.file), {options.clock, options.published});
}

} // namespace

int convert_command(const convert_options &options)
{
    auto write = [&](const std::string &text) {
        options.output.empty() ? print(text) : write_file(options.output, text);
        return passed;
    };
    if (options.format == "page") return write(class_page_of(options));
    json document = read_result(options.file, options.student);
    // Gradescope hides them itself until its grades are published.
    if (!options.published && options.format != "gradescope")
        document = without_held_back(std::move(document));
    if (options.published && options.format != "json")
        document = with_held_back_published(std::move(document));
    if (options.format != "json") document = as_counted(std::move(document), options.clock);
    if (options.format == "github") {
        convert_for_github(document, options.output);
        return passed;
    }
    std::string text = options.format == "json"           ? as_one_result(document)
                       : options.format == "junit"        ? as_junit(document)
                       : options.format == "gradescope"   ? as_gradescope(document)
                       : options.format == "prairielearn" ? as_prairielearn(document)
                                                          : as_text(document);
    return write(text);
}

} // namespace cli
