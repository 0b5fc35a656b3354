// A small project in a temporary folder, for tests of the program: one lab, one contract function,
// and a grader that its test scripts.
#pragma once

#include "cli/submission/toolchain.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cli {

// Switches root, who may read and write everything, to another user for its lifetime.
class ordinary_user {
public:
    ordinary_user() : was_(geteuid())
    {
        if (was_ == 0 && seteuid(nobody) != 0) throw std::runtime_error("no other user");
    }
    ~ordinary_user()
    {
        if (was_ == 0 && seteuid(was_) != 0) std::abort();
    }
    ordinary_user(const ordinary_user &) = delete;

private:
    static constexpr uid_t nobody = 65534;
    uid_t was_;
};

class project {
public:
    project()
    {
        char name[] = "/tmp/cuda-workbook-test.XXXXXX";
        if (mkdtemp(name) == nullptr) throw std::runtime_error("no temporary folder");
        root = std::filesystem::canonical(name).string();
        tools.source_root = root;
        tools.build_root = root + "/build";
        tools.ninja = script("build/ninja", "exit 0");
        tools.nvcc = "/bin/true";
        tools.compile_script = root + "/grader/build/compile.sh";
        tools.cxx = {"c++"};
        tools.simulator_library = root + "/build/libcudasim.a";
        lab l;
        l.name = "02_scaling";
        l.keep = root + "/build/02_scaling.kept";
        l.worker_library = root + "/build/libworker.a";
        tools.labs = {l};
        put("labs/02_scaling/lab.hpp",
            "// The contract.\n#pragma once\nvoid scale(float *data, int n);\n");
        put("labs/check.hpp", "#pragma once\n");
        put("labs/devices.hpp", "#pragma once\n#include \"check.hpp\"\n");
        put("labs/02_scaling/stub.cu", "// Not written.\n#include \"lab.hpp\"\n");
    }
    ~project() { std::filesystem::remove_all(root); }
    project(const project &) = delete;

    std::string put(const std::string &name, const std::string &text)
    {
        std::filesystem::path path = std::filesystem::path(root) / name;
        std::filesystem::create_directories(path.parent_path());
        write_atomically(path.string(), text);
        return path.string();
    }
    std::string script(const std::string &name, const std::string &body)
    {
        std::string path = put(name, "#!/bin/sh\n" + body + "\n");
        chmod(path.c_str(), 0755);
        return path;
    }
    const lab &only_lab() const { return tools.labs[0]; }

    // Uses this build's toolchain.json: the real compiler and a worker that calls the contract.
    void use_real_compiler()
    {
        toolchain real = read_toolchain(toolchain_path());
        tools.nvcc = real.nvcc;
        tools.nvcc_flags = real.nvcc_flags;
        // CUDA's own headers take most of a compile; with C++14 it takes half as long. Machine
        // code would cost time, too, and tests nothing here.
        tools.nvcc_flags.push_back("-std=c++14");
        std::erase_if(tools.nvcc_flags, [](const std::string &flag) {
            return flag.find("code=sm_") != std::string::npos;
        });
        tools.cxx = real.cxx;
        tools.cuda_include = real.cuda_include;
        tools.cudart_static = real.cudart_static;
        tools.link_flags = real.link_flags;
        put("grader/build/compile.sh", read_text(real.compile_script));
        put("build/02_scaling.kept", "_Z5scalePfi\n");
        make_worker_library("int main() { scale(nullptr, 0); }\n");
    }
    void make_worker_library(const std::string &main_function)
    {
        std::string source = put("build/worker.cpp", "void scale(float *, int);\n" + main_function);
        child compile;
        compile.arguments = tools.cxx;
        compile.arguments.insert(compile.arguments.end(),
                                 {"-c", source, "-o", root + "/build/worker.o"});
        REQUIRE(run(compile).ok());
        child archive;
        archive.arguments = {"ar", "rcs", root + "/build/libworker.a", root + "/build/worker.o"};
        REQUIRE(run(archive).ok());
    }

    std::string root;
    toolchain tools;
};

} // namespace cli
