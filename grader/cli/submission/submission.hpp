// Builds worker programs from a student's .cu file: checks it, compiles it in isolation, links it,
// and caches the results by content.
#pragma once

#include "cli/terminal/text.hpp"
#include "text/verdict.hpp"
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
    std::chrono::seconds check{20};         // for each tool that inspects the object
    bool use_sandbox = true;                // false: behaves as on a machine without a sandbox
};

struct submission_request {
    const lab *of = nullptr;
    std::string path;                  // the file
    std::vector<std::string> backends; // "sim", "gpu": which workers to link
    std::string object = {};      // a folder from compile_together; empty: the file is compiled
    bool require_sandbox = false; // without a sandbox nothing is compiled
};

struct built_submission {
    grading::verdict verdict = grading::verdict::PASS; // PASS: built
    std::string message, hint;                         // set if it was not built
    std::string diagnostics;          // the compiler's output, made safe; warnings if it was built
    std::vector<std::string> workers; // programs, in the order of `backends`
    std::string sha256;               // of the file that was read; empty: it could not be
    bool from_cache = false;
    double cpu_seconds = 0;
    bool built() const { return verdict == grading::verdict::PASS; }
};

// Returns nvcc's flags for these backends. The simulator executes PTX, so without the gpu backend
// no machine code is asked for, which would only cost time.
std::vector<std::string> flags_for(const toolchain &t, const lab &l,
                                   const std::vector<std::string> &backends);

// Identifies the compilers, by version, and their flags: a part of the keys of cached objects.
std::string compiler_key(const toolchain &t, const std::vector<std::string> &flags);

// Compiles and links under build_root/submissions/LAB. The contract's libraries must be built
// already. Safe to call concurrently from threads and processes. Throws machine_error if the
// machine is at fault (no compiler, disk full), stop_requested on Ctrl-C. A student's mistake is a
// verdict.
built_submission build_submission(const toolchain &t, const submission_request &request,
                                  const build_limits &limits = {});

// Returns at most three of the compiler's warnings that may explain a wrong answer: those specific
// to CUDA, and variables used before they are set. Not unused ones, which are common in unfinished
// files. Names lines but no file, because the output may be cached from an equal file elsewhere.
std::vector<std::string> telling_warnings(const std::string &diagnostics);

// Returns the command that lists an object's names. It names the target, because nm would else try
// binutils' plugins (LLVM's), which costs 50 ms and exposes them to an untrusted object.
std::vector<std::string> nm(std::vector<std::string> options, const std::string &object);

// True if a line of objdump's output is a system call instruction. Exposed for tests.
bool is_system_call(std::string_view line);

// Returns what is wrong with the symbols of an object as `nm` lists them; empty if nothing is.
// `system_calls`: true if the object may make system calls. Exposed for tests.
std::string lint_symbols(const std::string &nm_output, const std::string &file,
                         bool system_calls = false);

} // namespace cli
