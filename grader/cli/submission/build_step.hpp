// Shared by the steps of a submission's build: its file, its compile folder, and fault diagnosis.
#pragma once

#include "cli/support/subprocess.hpp"
#include "submission.hpp"

#include "process/sandbox.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Thrown for a fault of the student's; becomes the verdict of the build.
struct refusal {
    grading::verdict what;
    std::string message, hint = {}, diagnostics = {};
};

// One compile of one file.
struct job {
    const toolchain &tools;
    const submission_request &request;
    const build_limits &limits;
    std::string shown = {}, text = {}; // path as the student knows it, contents
    std::string tree_name = {};        // path in the compile tree: "labs/02_coalescing/stub.cu"
};

// Linux's count of out-of-memory kills on this machine, from /proc/vmstat; empty: it has none.
std::string oom_kills();

// The temporary folder of one compile, with the file, its headers and our tools.
struct compile_folder {
    std::string tree;    // as we see it
    std::string visible; // as the compiler sees it
    std::optional<grading::sandbox> sandbox = {};
    std::string oom_kills_before = oom_kills();
};

// compile_step.cpp

// The path of the compiled object, as the compiler sees it.
std::string object_in(const compile_folder &w);

// Makes the compilers' and the linker's own files visible in the sandbox.
void show_tools(const toolchain &t, grading::sandbox &s);
// `scratch`: the folder for temporary files.
std::vector<std::string> minimal_environment(const job &j, const std::string &scratch);

// Compiles and inspects the file, writes object.o into `output_folder`, and returns the
// compiler's warnings. Throws refusal, or machine_error.
std::string compile_object(const job &j, const std::string &output_folder, double &cpu_seconds);

// inspect_step.cpp

// Refuses a text with .incbin or .include, by which the assembler reads any file where there is no
// sandbox. Finds the words only as they stand, so a word that is put together gets past it.
void check_directives(const job &j);
// Throws refusal if the compile read a file, or its object contains a name, a call or more bytes
// that a submission may not have.
void inspect(const job &j, const compile_folder &w);

// link_step.cpp

struct linked_worker {
    std::string program;
    bool from_cache = true;
    double cpu_seconds = 0; // also of a failed link
    std::optional<refusal> refused = {};
};
// Links the worker of a backend in the cache of workers, unless it is there.
linked_worker link_worker(const job &j, const std::string &object_folder,
                          const std::string &backend);

// object_names.cpp

// Demangles a symbol: "scale(float*, int)". c++filt runs under limits, since a short mangled name
// can expand to more than the machine's memory.
std::string demangled_symbol(const std::string &symbol);

// build_faults.cpp

bool contains_any(const std::string &text, std::initializer_list<const char *> words);
// Returns the number of at most six digits at the start of a text; -1: there is none.
int leading_number(std::string_view text);
// Returns the signal that ended the compiler or the linker, or a part of it according to its
// output; 0: none did.
int ended_by(const exit_result &e, const std::string &said);
// Throws machine_error for SIGKILL and SIGTERM: a kill from outside is no fault of the submission.
void require_not_killed(const job &j, int signal);
// Returns true if the output of a compiler or a linker is about the machine. `said` is all of it,
// including lines about our files, which no student is shown. A submission can forge such lines.
bool speaks_of_machine(const std::string &said);
// Called after a failed compile or link: throws machine_error if the disk has no room for output.
void require_room_to_build(const std::string &cache);

} // namespace cli
