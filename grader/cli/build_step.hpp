// What the steps of a submission's build share: its file, the folder of its compile, and whose
// fault it is that one failed.
#pragma once

#include "process.hpp"
#include "submission.hpp"

#include "grader/process/sandbox.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Something the student did: becomes the verdict of the build.
struct refusal {
    grading::verdict what;
    std::string message, hint, diagnostics;
};

// One compile of one file.
struct job {
    const toolchain &tools;
    const submission_request &request;
    const build_limits &limits;
    std::string file, shown, text; // its plain name, its path as the student knows it, its bytes
    std::string tree_name;         // where in the tree it is compiled: "labs/02_coalescing/stub.cu"

    std::string contract_folder() const;
    std::string key() const; // of its object: equal keys, equal objects
};

// The kernel's count of processes that it killed for want of memory; empty: it has none.
std::string killed_for_memory();

// Where the compile happens: a folder of ours holds the file, its headers and our tools.
struct workplace {
    std::string tree;    // as we see it
    std::string visible; // as the compiler sees it
    std::optional<grading::sandbox> closed = {};
    std::string killed_before = killed_for_memory();
};

// compile_step.cpp

// What the compile makes, as its tools see it.
std::string object_in(const workplace &w);

void lay_out(const job &j, const std::string &scratch, workplace &w);
// The compilers' own files, and the linker's.
void show_tools(const toolchain &t, grading::sandbox &s);
// Lets the compiler see its own files, wherever they were installed, and the tree. Where namespaces
// can be had the tree stands where the project does, so that names in messages and line tables are
// the student's own; the project itself is absent.
void close_off(const job &j, workplace &w);
// `scratch`: for temporary files.
std::vector<std::string> minimal_environment(const job &j, const std::string &scratch);

ending compile(const job &j, const workplace &w);
// The compiler's words with the student's own path, without what is about our tools.
std::string diagnostics(const job &j, const workplace &w, const ending &e);
// How a file without a line of its own compiles: what does not come of it comes of the machine. Not
// tried with the submission, whose words may be made to look like anything.
ending compile_empty(const job &j, bool closed);
bool compiles_empty(const ending &e);
[[noreturn]] void refuse_compile(const job &j, const workplace &w, const ending &e);
// Whether the compiler finds all it needs in the sandbox: tried once.
bool sandbox_suffices(const job &j);
// The machine's part in a compile that failed. True: it speaks of the machine, which has what it
// needs again; throws machine_error where it has not.
bool machine_came_between(const job &j, const workplace &w, const ending &e);

// inspect_step.cpp: each throws refusal where it finds what no submission may have.

// Every file that was read must be the compiler's, the contract, or the submission.
void check_dependencies(const job &j, const workplace &w);
// Without a sandbox the assembler could read any file; the names of these directives are then
// refused.
void check_directives(const job &j);
void check_size(const job &j, const std::string &object);
// Assembly can call what the compiler refuses where there is no device link.
void check_launches(const job &j, const std::string &object);
std::string symbols(const job &j, const workplace &w);
// Whether host code has the instruction of a system call, for which it needs no function.
bool enters_the_system(const job &j, const workplace &w);

// link_step.cpp

std::string linked(const job &j, const std::string &object_folder, const std::string &backend,
                   built_submission &result);

// object_names.cpp

// "scale(float*, int)" of a linker's name. c++filt says so, with limits of its own: few characters
// can stand for more than a machine's memory holds.
std::string in_words(const std::string &symbol);

// build_faults.cpp

bool contains_any(const std::string &text, std::initializer_list<const char *> words);
void replace_all(std::string &text, const std::string &from, const std::string &to);
// The number of at most six digits at the start of a text; -1: there is none.
int leading_number(std::string_view text);
// The signal that ended the compiler or the linker, or a part of it by what they say themselves; 0:
// none did.
int ended_by(const ending &e, const std::string &said);
// What somebody else killed is no fault of the submission's.
void require_not_killed(const job &j, int signal);
// Whether a compiler or a linker speaks of the machine. `said` is all of its words: those about
// files of ours, too, which no student is shown. A submission can have them said as well.
bool speaks_of_machine(const std::string &said);
bool lacked_memory(const std::string &said);
// Throws machine_error where the machine gives a compiler less than a submission may have.
void require_memory(const build_limits &limits);
// Where a compile or a link failed: throws machine_error where the machine lacks room for what it
// writes.
void require_room_to_build(const std::string &cache);

} // namespace cli
