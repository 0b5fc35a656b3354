// The build's description of the labs and of everything needed to compile a submission.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cli {

struct lab {
    std::string name;      // "02_coalescing"
    bool test = false;     // a test of the workbook itself; not listed to students
    bool solutions = true; // false in the student edition
    bool library = false;  // reference/LAB/library.cu exists
    // It runs in the simulator, too: its kernels are compiled to PTX, like those of CUB, and do not
    // come as machine code, like those of cuBLAS.
    bool library_on_sim = false;
    std::vector<std::string> rungs; // in teaching order, by stem: "1_coalesced"
    std::vector<std::string> nvcc;  // additional flags: -rdc=true
    std::vector<std::string> link;  // additional linker flags: -lmpi
    std::string mpirun;             // for cases on several ranks; empty: no such cases, or no MPI
    std::vector<std::string> forbidden;   // toolkit headers' folders that hold the answer: "cub"
    std::vector<std::string> given_wrong; // functions that the stub has wrong, not empty
    // Functions that the lab had in an earlier edition, each with the lab that has it now.
    std::vector<std::pair<std::string, std::string>> moved;
    bool system_calls = false;     // allowed, to test that the sandbox alone contains them
    bool slow_mistakes = false;    // every case of every wrong submission takes long
    bool compiled_together = true; // `check` compiles its wrong submissions in one run
    std::string keep;              // file with the contract's symbols, one per line
    std::string worker_library;    // worker main and table of contract functions

    // True if the vendor's library version is built for `backend`: sim, gpu or both.
    bool has_library(const std::string &backend) const
    {
        return library && (backend != "sim" || library_on_sim);
    }
};

struct toolchain {
    std::string source_root, build_root;
    std::string ninja, nvcc, compile_script;
    std::vector<std::string> cxx, nvcc_flags, gpu_archs, link_flags;
    std::string cuda_include, cudart_static, simulator_library;
    std::vector<lab> labs;

    // Absolute paths. A test lab has all its parts in one folder.
    std::string header(const lab &l) const;
    // The project's headers that a submission may include, beside those of compiler and toolkit.
    std::vector<std::string> headers(const lab &l) const;
    std::string stub(const lab &l) const;
    std::string empty_functions(const lab &l) const; // a generated submission, built on demand
    std::string source(const lab &l,
                       const std::string &implementation) const;         // naive, 1_..., solution
    std::string folder_of(const lab &l, const std::string &which) const; // right, wrong
    std::string program(const lab &l, const std::string &implementation,
                        const std::string &backend) const; // LAB.IMPL.sim
    std::string grader(const lab &l) const;                // grade.LAB
    std::string simulated_device() const;                  // the program beside graders
    // The path as a student would type it: relative to the project if it lies inside.
    std::string shown(const std::string &path) const;
    std::vector<std::string> lab_names(bool test_too) const;
};

// Throws machine_error naming the file and the missing or wrong key.
toolchain read_toolchain(const std::string &path);
// Returns the value of CUDA_WORKBOOK_TOOLCHAIN, or else the path of toolchain.json beside this
// executable.
std::string toolchain_path();

// Throws usage_error if no lab has the name.
const lab &lab_called(const toolchain &t, const std::string &name);

std::string number_of(const std::string &lab); // "02" of "02_coalescing"

} // namespace cli
