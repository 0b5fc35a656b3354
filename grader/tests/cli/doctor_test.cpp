// Tests the doctor on machines that lack one tool each.
#include "cli/commands/doctor.hpp"
#include "cli_project.hpp"

#include <algorithm>

using namespace cli;

namespace {

// A PATH with stand-ins of every tool that answer only the doctor's questions.
struct machine : project {
    machine_places places;
    std::string old_path = std::getenv("PATH");
    machine()
    {
        script("bin/c++", "echo 'c++ (Debian) 12.2.0'");
        script("bin/nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.48'");
        script("bin/meson", "echo 1.0.1");
        script("bin/ninja", "echo 1.11.1");
        for (const char *name : {"nm", "objcopy", "ld"})
            script(std::string("bin/") + name, "exit 0");
        for (const char *file :
             {"doctest/doctest.h", "CLI/CLI.hpp", "nlohmann/json.hpp", "fmt/format.h"})
            put(std::string("include/") + file, "");
        // The table is this workbook's own.
        const std::string table = "grader/build/prerequisites.txt";
        put(table, read_text(read_toolchain(toolchain_path()).source_root + "/" + table));
        script("bin/nvidia-smi", "echo 'NVIDIA H200, 580.65.06, 143771 MiB'");
        script("build/grade.02_scaling", "exit 0"); // the doctor probes its sandbox
        script("build/02_scaling.naive.sim", "exit 0");
        script("build/02_scaling.naive.gpu", "exit 0");
        put("build/toolchain.json",
            R"({"source_root": ")" + root + R"(", "build_root": ")" + root +
                R"(/build", "nvcc": ")" + root +
                R"(/bin/nvcc", "compile_script": "x", "cxx": ["c++"], "nvcc_flags": [], "cudart_static": "x",
            "simulator_library": "x", "gpu_archs": ["90"], "labs": [{"lab": "02_scaling", "keep": "x", "worker_library": "x"}]})");
        places.device_folder = root + "/dev";
        places.proc_folder = root + "/proc";
        places.include_folders = {root + "/include"};
        places.toolchain = root + "/build/toolchain.json";
        setenv("PATH", (root + "/bin").c_str(), 1);
    }
    ~machine() { setenv("PATH", old_path.c_str(), 1); }
    void lose(const std::string &name) { std::filesystem::remove_all(root + "/" + name); }
    diagnosis about(const std::string &part)
    {
        for (const diagnosis &d : diagnose(places))
            if (d.part == part) return d;
        FAIL("no line about " << part);
        return {};
    }
    std::size_t count(diagnosis::state s)
    {
        std::vector<diagnosis> all = diagnose(places);
        return std::count_if(all.begin(), all.end(),
                             [&](const diagnosis &d) { return d.what == s; });
    }
};

} // namespace

TEST_CASE("with everything there, every required line is ok and says what it enables")
{
    machine m;
    CHECK(m.count(diagnosis::missing) == 0);
    for (const diagnosis &d : diagnose(m.places)) CHECK(d.effect != "");
    CHECK(m.about("nvcc").found == "13.0 at " + m.root + "/bin/nvcc");
    CHECK(m.about("C++ compiler").found == "12.2 at " + m.root + "/bin/c++");
    CHECK(m.about("GPU").what == diagnosis::there);
    CHECK(m.about("build").found.find("sm_90") != std::string::npos);
    CHECK(m.about("trial kernel").what == diagnosis::there);
}

TEST_CASE("each required part, missing alone, is the only one missing and says how to get it")
{
    struct loss {
        const char *part, *file;
    };
    for (loss l :
         {loss{"C++ compiler", "bin/c++"}, loss{"nvcc", "bin/nvcc"}, loss{"Meson", "bin/meson"},
          loss{"Ninja", "bin/ninja"}, loss{"binutils", "bin/objcopy"}, loss{"binutils", "bin/nm"},
          loss{"build", "build/toolchain.json"}}) {
        CAPTURE(l.file);
        machine m;
        m.lose(l.file);
        CHECK(m.about(l.part).what == diagnosis::missing);
        CHECK(m.about(l.part).remedy != "");
        CHECK(m.count(diagnosis::missing) == 1);
    }
}

TEST_CASE("each optional part, missing alone, is absent and costs what it says")
{
    struct loss {
        const char *part, *file;
    };
    for (loss l : {loss{"doctest", "include/doctest"}, loss{"CLI11", "include/CLI"},
                   loss{"nlohmann/json", "include/nlohmann"}, loss{"fmt", "include/fmt"},
                   loss{"GPU", "bin/nvidia-smi"}, loss{"simulator", "build/02_scaling.naive.sim"},
                   loss{"trial kernel", "build/02_scaling.naive.gpu"}}) {
        CAPTURE(l.file);
        machine m;
        CHECK(m.about(l.part).what == diagnosis::there);
        m.lose(l.file);
        CHECK(m.about(l.part).what == diagnosis::optional_missing);
        CHECK(m.count(diagnosis::missing) == 0);
    }
    machine fetched; // has headers from ./workbook, none from the system
    fetched.lose("include/fmt");
    fetched.put(".venv/include/fmt/format.h", "");
    CHECK(fetched.about("fmt").found == fetched.root + "/.venv/include/fmt/format.h");
    machine m;
    CHECK(m.about("sandbox").what == diagnosis::there);
    m.script("build/grade.02_scaling",
             "echo 'none: a process in it could still read files'; exit 1");
    CHECK(m.about("sandbox").what == diagnosis::optional_missing);
    CHECK(m.about("sandbox").found == "none: a process in it could still read files");
    CHECK(m.about("sandbox").remedy != "");
    CHECK(m.about("compute-sanitizer").what == diagnosis::optional_missing);
}

TEST_CASE("where namespaces are refused the doctor says why, and what is lost")
{
    machine m;
    auto lines_about_namespaces = [&] {
        std::vector<diagnosis> all = diagnose(m.places);
        std::erase_if(all, [](const diagnosis &d) { return d.part != "namespaces"; });
        return all.size();
    };
    m.script("build/grade.02_scaling", "echo namespaces");
    m.lose("build/02_scaling.naive.gpu"); // with a GPU the reason may be another
    CHECK(lines_about_namespaces() == 0);
    m.script("build/grade.02_scaling", "echo landlock");
    CHECK(m.about("sandbox").what == diagnosis::there);
    CHECK(contains(m.about("sandbox").found, "Landlock"));
    const diagnosis lost = m.about("namespaces");
    CHECK(lost.what == diagnosis::optional_missing);
    CHECK(contains(lost.effect, "can see whether a file is there"));
    CHECK(contains(lost.effect, "cases on several processes"));
    CHECK(contains(lost.found, "the kernel refuses user namespaces"));
    m.put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    CHECK(contains(m.about("namespaces").found, "AppArmor"));
    m.put("proc/self/status", "Name:\tdoctor\nSeccomp:\t2\nSeccomp_filters:\t1\n");
    CHECK(contains(m.about("namespaces").found, "as in an unprivileged container"));
    CHECK(contains(m.about("namespaces").remedy, "outside of the container"));
    m.put("proc/self/status", "Name:\tdoctor\nSeccomp:\t0\n");
    m.put("proc/sys/user/max_user_namespaces", "0\n");
    CHECK(contains(m.about("namespaces").found, "user/max_user_namespaces is 0"));
    CHECK(contains(m.about("namespaces").remedy, "sysctl"));
}

TEST_CASE("Open MPI is there with its compiler, and nobody else's MPI is")
{
    machine m;
    CHECK(m.about("Open MPI").what == diagnosis::optional_missing);
    m.script("bin/mpirun", "echo 'mpirun (Open MPI) 4.1.4'");
    CHECK(m.about("Open MPI").found.find("no mpicc") != std::string::npos);
    m.script("bin/mpicc", "exit 0");
    CHECK(m.about("Open MPI").found == "4.1.4 at " + m.root + "/bin/mpirun");
    m.script("bin/mpirun", "echo 'mpirun (Open MPI) 5.0.7'");
    CHECK(m.about("Open MPI").found.find("4 is needed") != std::string::npos);
    m.script("bin/mpirun", "echo 'HYDRA build details: 4.0'");
    CHECK(m.about("Open MPI").what == diagnosis::optional_missing);
    CHECK(m.about("Open MPI").remedy.find("libopenmpi-dev") != std::string::npos);
}

TEST_CASE("a tool that is too old is missing, with both versions")
{
    machine m;
    m.script("bin/nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.1'");
    CHECK(m.about("nvcc").what == diagnosis::missing);
    CHECK(m.about("nvcc").found.find("12.4") != std::string::npos);
    CHECK(m.about("nvcc").found.find("13.0") != std::string::npos);
    m.script("bin/c++", "echo 'c++ (Debian) 10.2.1'");
    CHECK(m.about("C++ compiler").what == diagnosis::missing);
    m.script("bin/meson", "echo 0.63.0");
    CHECK(m.about("Meson").what == diagnosis::missing);
    m.script("bin/nvidia-smi", "echo 'Tesla T4, 535.1, 15360 MiB'");
    CHECK(m.about("GPU").what == diagnosis::optional_missing);
    CHECK(m.about("GPU").remedy.find("580") != std::string::npos);
}

TEST_CASE("links between GPUs are shown as measured, or said to be missing")
{
    machine m;
    CHECK(m.about("links between GPUs").found == "no two GPUs");
    m.script("build/02_scaling.naive.gpu",
             "test $1 = --peers && printf 'GB/s:\\n      0     1\\n'");
    CHECK(m.about("links between GPUs").what == diagnosis::there);
    terminal plain;
    CHECK(doctor_report(diagnose(m.places), plain).find("      0     1\n") != std::string::npos);
    m.script("build/02_scaling.naive.gpu", "echo lost; exit 1");
    CHECK(m.about("links between GPUs").found == "lost");
    m.lose("build/02_scaling.naive.gpu");
    CHECK(m.about("links between GPUs").what == diagnosis::optional_missing);
}

TEST_CASE("a trial kernel that fails says why")
{
    machine m;
    m.script("build/02_scaling.naive.gpu", "echo 'driver too old'; exit 1");
    CHECK(m.about("trial kernel").what == diagnosis::optional_missing);
    CHECK(m.about("trial kernel").found == "driver too old");
    m.script("build/02_scaling.naive.sim", "exit 3");
    CHECK(m.about("simulator").what == diagnosis::missing);
    m.lose("bin/nvidia-smi");
    m.put("dev/nvidiactl", "");
    CHECK(m.about("GPU").found.find("no nvidia-smi") != std::string::npos);
}

TEST_CASE("a toolchain file that cannot be used is said to be so")
{
    machine m;
    m.put("build/toolchain.json", "{}");
    CHECK(m.about("build").what == diagnosis::missing);
    CHECK(m.about("build").found.find("cannot be used") != std::string::npos);
}

TEST_CASE("the report is readable at 80 columns and ends with what to do")
{
    machine m;
    terminal plain;
    std::string text = doctor_report(diagnose(m.places), plain);
    CHECK(text.find("Next: ./workbook\n") != std::string::npos);
    m.lose("bin/meson");
    text = doctor_report(diagnose(m.places), plain);
    CHECK(text.find("1 part missing") != std::string::npos);
    CHECK(text.find("get it: install meson") != std::string::npos);
    std::vector<diagnosis> fixed = {
        {diagnosis::there, "a part with a long name", std::string(300, 'x') + " y", "z", ""}};
    CHECK(doctor_report(fixed, plain).find("a part with a long name ") != std::string::npos);
}
