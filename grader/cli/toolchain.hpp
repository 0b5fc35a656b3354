// What the build wrote down for us: the labs, and everything needed to compile a submission.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct lab {
    std::string name;               // "02_coalescing"
    bool test = false;              // proves the machinery; not listed to students
    bool solutions = true;          // false in the student edition
    bool library = false;           // reference/LAB/library.cu exists
    bool library_on_sim = false;    // and is linked to no library of machine code
    std::vector<std::string> rungs; // in teaching order, by stem: "1_coalesced"
    std::vector<std::string> nvcc;  // more flags: -rdc=true
    std::vector<std::string> link;  // more flags for the linker: -lmpi
    std::string mpirun;             // for cases on several ranks; empty: there are none, or no MPI
    std::vector<std::string> forbidden; // toolkit headers' folders that hold the answer: "cub"
    bool system_calls = false;          // submissions may make them: a test of what holds them then
    bool slow_mistakes = false;         // all cases of all its wrong submissions take long
    std::string keep;                   // file with the contract's symbols, one a line
    std::string worker_library;         // worker main and table of contract functions

    // Whether the vendor's version is built for `backend`: sim or gpu.
    bool has_library(const std::string &backend) const
    {
        return library && (backend == "gpu" || library_on_sim);
    }
};

struct toolchain {
    std::string source_root, build_root;
    std::string ninja, nvcc, cuda_version, compile_script;
    std::vector<std::string> cxx, nvcc_flags, gpu_archs, link_flags;
    std::string cuda_include, cudart_static, cudadevrt, simulator_library;
    std::vector<lab> labs;

    // Absolute paths. A test lab has all its parts in one folder.
    std::string header(const lab &l) const;
    std::vector<std::string> headers(const lab &l) const; // that and the others for submissions
    std::string stub(const lab &l) const;
    std::string source(const lab &l,
                       const std::string &implementation) const;         // naive, 1_..., solution
    std::string folder_of(const lab &l, const std::string &which) const; // right, wrong
    std::string program(const lab &l, const std::string &implementation,
                        const std::string &backend) const; // LAB.IMPL.sim
    std::string grader(const lab &l) const;                // grade.LAB
    std::string simulated_device() const;                  // the program beside graders
    // The path as a student would type it: relative to the project where it lies inside.
    std::string shown(const std::string &path) const;
    std::vector<std::string> lab_names(bool test_too) const;
};

// Throws machine_error naming the file and the missing or wrong key.
toolchain read_toolchain(const std::string &path);
// Beside this executable, or where CUDA_WORKBOOK_TOOLCHAIN says.
std::string toolchain_path();

} // namespace cli
