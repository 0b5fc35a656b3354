// From a student's .cu file to worker programs: checked, compiled apart from everything of ours,
// linked, and kept by content.
#pragma once

#include "../verdict.hpp"
#include "text.hpp"
#include "toolchain.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct build_limits {
    std::size_t file_bytes = 256 << 10;
    std::size_t diagnostics = 16 << 10;
    std::chrono::seconds wall{60};
    std::uint64_t cpu_seconds = 60;         // of any one process of the compiler
    std::uint64_t memory = 8ull << 30;      // address space of any one process
    std::uint64_t object_bytes = 256 << 20; // of any one file written
    std::uint64_t checked_bytes = 16 << 20; // of the object
    std::chrono::seconds check{20};         // for each look at it
    bool closed = true; // false: as on a machine that cannot hide the rest of its files
};

struct submission_request {
    const lab *of = nullptr;
    std::string path;                  // the file
    std::vector<std::string> backends; // "sim", "gpu": which workers to link
    std::string object = {}; // the folder that compile_together gave; empty: the file is compiled
    bool require_sandbox = false; // nothing is compiled where it cannot be shut off
};

struct built_submission {
    grading::verdict verdict = grading::verdict::PASS; // PASS: built
    std::string message, hint;                         // when it was not
    std::string diagnostics;          // the compiler's words, made safe; warnings when it was built
    std::vector<std::string> workers; // programs, in the order of `backends`
    bool from_cache = false;
    double cpu_seconds = 0;
    bool built() const { return verdict == grading::verdict::PASS; }
};

// What nvcc is told for these backends. The simulator reads PTX: without a GPU, machine code would
// only cost the student's time.
std::vector<std::string> flags_for(const toolchain &t, const lab &l,
                                   const std::vector<std::string> &backends);

// Compiles and links under build_root/submissions/LAB. The contract's libraries must be built
// already. Safe to call from several threads and processes at once. Throws machine_error when the
// machine is at fault (no compiler, disk full), stop_requested on Ctrl-C; what the student did
// wrong is a verdict.
built_submission build_submission(const toolchain &t, const submission_request &request,
                                  const build_limits &limits = {});

// Of the compiler's words, at most three warnings that a wrong answer may come from: those that
// only CUDA has, and what is used before it is set. Not what is unused: a file half done has much
// of it.
// By line alone: the words may have been kept from an equal file elsewhere.
std::vector<std::string> telling_warnings(const std::string &diagnostics);

// The words of a command that lists an object's names. With the target named, nm does not ask
// binutils' plugins first, LLVM's among them: 50 ms each time, and the object is a stranger's.
std::vector<std::string> nm(std::vector<std::string> options, const std::string &object);

// Whether a line of objdump's is the instruction of a system call. Exposed for tests.
bool is_system_call(std::string_view line);

// What is wrong with the symbols of an object as `nm` lists them; empty: nothing. `system_calls`:
// whether it may make them. Exposed for tests.
std::string lint_symbols(const std::string &nm_output, const std::string &file,
                         bool system_calls = false);

} // namespace cli
