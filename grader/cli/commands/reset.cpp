// Restores a lab's stub to how it was handed out, or to empty functions, and keeps the student's
// file.
#include "commands.hpp"

#include "cli/results/lab_names.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Reads one line from the terminal; empty at end of input. Throws stop_requested on Ctrl-C.
std::string typed_line()
{
    std::string text;
    while (text.find('\n') == text.npos) {
        pollfd wait[2] = {{0, POLLIN, 0}, {stop_descriptor(), POLLIN, 0}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR) return {};
        if (stop_was_requested()) throw stop_requested();
        if (!wait[0].revents) continue;
        char part[256];
        ssize_t n = read(0, part, sizeof part);
        if (n <= 0) return {};
        text.append(part, static_cast<std::size_t>(n));
    }
    return text;
}

bool agrees_to_replace()
{
    while (true) {
        fmt::print("Replace it? (y/n) ");
        std::fflush(stdout);
        std::string answer = typed_line();
        if (answer == "y\n" || answer == "Y\n" || answer == "yes\n") return true;
        if (answer.empty() || answer == "n\n" || answer == "N\n" || answer == "no\n") return false;
    }
}

bool make_new(const std::string &path)
{
    int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd >= 0) return close(fd) == 0;
    if (errno == EEXIST) return false;
    throw machine_error(fmt::format("cannot write {}: {}. Nothing was changed.", path,
                                    std::generic_category().message(errno)));
}

std::string no_original(const toolchain &t, const lab &l)
{
    return fmt::format("there is no original of {} to go back to: git does not know the file, and "
                       "there is no {}. Get the file from where you got the workbook. Nothing was "
                       "changed.",
                       t.shown(t.stub(l)), t.shown(stub_copy(t, l)));
}

// Mentions the copy from the first run if it differs from git's, to which students may commit.
void mention_copy(const toolchain &t, const lab &l, const stub_original &original)
{
    std::string copy = stub_copy(t, l);
    if (!fs::exists(copy) || read_text(copy) == original.text) return;
    fmt::print("{}\n", wrapped(fmt::format("That is not how it was when the workbook first ran "
                                           "here; for that: cp {} {}",
                                           t.shown(copy), t.shown(t.stub(l))),
                               detect_terminal(1).width, 0));
}

// Copies the stub to .workbook/kept under a new name with the date, and returns the path.
std::string keep_stub(const toolchain &t, const lab &l)
{
    std::string folder = t.source_root + "/.workbook/kept";
    std::error_code error;
    fs::create_directories(folder, error);
    std::string stem = fmt::format("{}/{}-{}", folder, l.name, local_time("%Y-%m-%d-%H%M%S"));
    std::string path = stem + ".cu";
    for (int n = 2; !make_new(path); ++n) path = fmt::format("{}-{}.cu", stem, n);
    write_atomically(path, read_text(t.stub(l)), durability::durable);
    return path;
}

// True if a file is as it was handed out, or as `start --open` has made it: it holds no work of the
// student.
bool is_untouched(const toolchain &t, const lab &l, const std::string &text)
{
    const std::string empty = t.empty_functions(l);
    return text == original_stub(t, l).text || (fs::exists(empty) && text == read_text(empty));
}

// A file for a stub's place, and how messages speak of it.
struct new_stub {
    std::string text;
    std::string description; // "as .workbook/stubs/02_coalescing.cu has it"
    std::string command;     // that puts it there: "reset 02"
};

// Puts the file there, and keeps the student's. Returns false if the student did not agree.
bool replace_stub(const toolchain &t, const lab &l, const new_stub &by, bool agreed)
{
    const std::string stub = t.stub(l);
    const int width = detect_terminal(1).width;
    const bool there = fs::exists(stub);
    if (there && read_text(stub) == by.text) {
        fmt::print("{}\n", wrapped(fmt::format("{} is {}: there is nothing to do.", t.shown(stub),
                                               by.description),
                                   width, 0));
        return true;
    }
    const bool has_work = there && !is_untouched(t, l, read_text(stub));
    if (!agreed && (has_work || !there)) {
        if (!isatty(0) || !isatty(1))
            throw usage_error(fmt::format("{0} asks before it changes {1}, and there is no "
                                          "terminal to ask on. To do it unasked: ./workbook {0} "
                                          "--yes",
                                          by.command, t.shown(stub)));
        fmt::print("{}\n", wrapped(fmt::format("{} will be {}. {}", t.shown(stub), by.description,
                                               there ? "Your file is kept beside the progress, and "
                                                       "your points stay."
                                                     : "It is not there now."),
                                   width, 0));
        if (!agrees_to_replace()) {
            fmt::print("Nothing was changed.\n");
            return false;
        }
    }
    const std::string kept = has_work ? keep_stub(t, l) : "";
    // If the stub is a symbolic link, its target is written and the link stays.
    write_atomically(there ? fs::canonical(stub).string() : stub, by.text);
    fmt::print("{}\n", wrapped(fmt::format("{} is {}.", t.shown(stub), by.description), width, 0));
    if (has_work)
        fmt::print("Your file is {}\nTo get it back:\n  cp {} \\\n     {}\n", t.shown(kept),
                   t.shown(kept), t.shown(stub));
    return true;
}

int restore_stub(const toolchain &t, const lab &l, const std::string &command, bool agreed)
{
    const stub_original original = original_stub(t, l);
    if (original.text.empty()) throw machine_error(no_original(t, l));
    if (replace_stub(t, l, {original.text, "as " + original.where + " has it", command}, agreed))
        mention_copy(t, l, original);
    return passed;
}

} // namespace

int reset_command(const toolchain &t, const std::string &word, bool agreed)
{
    const lab &l = lab_called(t, find_lab(word, t.lab_names(false)));
    return restore_stub(t, l, "reset " + number_of(l.name), agreed);
}

int start_command(const toolchain &t, const std::string &word, bool open, bool agreed)
{
    const lab &l = lab_called(t, find_lab(word, t.lab_names(false)));
    const std::string command = "start " + number_of(l.name);
    if (!open) return restore_stub(t, l, command, agreed);
    progress_line progress;
    build_targets(t, {t.empty_functions(l)}, progress);
    progress.clear();
    replace_stub(t, l,
                 {read_text(t.empty_functions(l)), "a file of empty functions, with nothing given",
                  command + " --open"},
                 agreed);
    return passed;
}

} // namespace cli
