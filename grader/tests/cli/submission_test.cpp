// Tests the submission builder: accepted files, messages about others, and files out of reach.
#include "cli/submission/batch_compile.hpp"
#include "cli/submission/submission.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"
#include "process/sandbox.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using namespace cli;
using grading::verdict;

namespace {

const std::string right = "#include \"lab.hpp\"\n"
                          "__global__ void twice(float *data, int n)\n"
                          "{\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n) data[i] *= 2;\n"
                          "}\n"
                          "void scale(float *data, int n) { if (n) twice<<<(n + 255) / 256, "
                          "256>>>(data, n); }\n";

struct built_project : project {
    built_project() { use_real_compiler(); }
    built_submission build_at(const std::string &path, const build_limits &limits = {})
    {
        return build_submission(tools, {&only_lab(), path, {"gpu"}}, limits);
    }
    built_submission build(const std::string &text, const build_limits &limits = {})
    {
        return build_at(put("labs/02_scaling/stub.cu", text), limits);
    }
};

// A folder for temporary files that no other process uses.
struct own_temporary {
    std::string path = "/tmp/submission_test.XXXXXX";
    own_temporary()
    {
        if (!mkdtemp(path.data())) throw std::runtime_error("no folder in /tmp");
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~own_temporary() { std::filesystem::remove_all(path); }
};
const own_temporary temporary;

std::size_t temporary_folders()
{
    std::size_t n = 0;
    for (const auto &e : std::filesystem::directory_iterator(temporary.path))
        n += contains(e.path().filename().string(), "cuda-workbook.");
    return n;
}

} // namespace

TEST_CASE("a right submission becomes a worker that runs, and is kept by content")
{
    built_project p;
    built_submission first = p.build(right);
    CHECK_MESSAGE(first.built(), first.message << first.diagnostics);
    REQUIRE(first.workers.size() == 1);
    CHECK_FALSE(first.from_cache);
    child worker;
    worker.arguments = {first.workers[0]};
    CHECK(run(worker).ok());

    CHECK(p.build(right).from_cache);
    built_submission changed = p.build(right + "// more\n");
    CHECK(changed.built());
    CHECK_FALSE(changed.from_cache);
    CHECK(p.build(right).workers == first.workers);
    SUBCASE("a changed contract is another submission")
    {
        p.put("labs/02_scaling/lab.hpp", "void scale(float *data, int n); // changed\n");
        CHECK_FALSE(p.build(right).from_cache);
    }
    SUBCASE("a changed worker library is linked again")
    {
        p.make_worker_library("int main() { scale(nullptr, 0); return 7; }\n");
        built_submission again = p.build(right);
        CHECK(again.built());
        CHECK_FALSE(again.from_cache);
        REQUIRE(again.workers.size() == 1);
        worker.arguments = {again.workers[0]};
        CHECK(run(worker).status == 7);
    }
}

TEST_CASE("a compile error names the student's file and line")
{
    built_project p;
    std::size_t before = temporary_folders();
    built_submission b =
        p.build("#include \"lab.hpp\"\n\nvoid scale(float *data, int n) { dta[0] = 1; }\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, "labs/02_scaling/stub.cu(3): error"), b.message);
    CHECK(contains(b.message, "dta"));
    CHECK_FALSE(contains(b.diagnostics, "/tmp/"));
    CHECK(b.workers.empty());
    CHECK(temporary_folders() == before);
}

TEST_CASE("a call of a kernel without <<<>>> and exchanged arguments of cudaMemcpy are explained")
{
    built_project p;
    auto hint = [&p](const std::string &body) {
        return p
            .build("#include \"lab.hpp\"\n__global__ void twice(float *) {}\n"
                   "void scale(float *data, int n)\n{\n    const float *from = data;\n    " +
                   body + "\n}\n")
            .hint;
    };
    CHECK(contains(hint("twice(data);"), "name<<<blocks, threads>>>(arguments)"));
    const std::string order = "(to, from, bytes, direction)";
    CHECK(contains(hint("cudaMemcpy(from, data, n, cudaMemcpyHostToDevice);"), order));
    CHECK(contains(hint("cudaMemcpy(data, from, cudaMemcpyHostToDevice, n);"), order));
    CHECK_FALSE(contains(hint("cudaMemset(from, 0, n); cudaMemcpy(data, from, n);"), order));
    CHECK_FALSE(contains(hint("cudaMemcpy(data, from, n, data);"), "launched"));
    CHECK_FALSE(contains(hint("cudaMemcpy(data, data, missing, n);"), order));
}

TEST_CASE("a file from elsewhere is named as it was given")
{
    built_project p;
    std::string path = p.root + "-mine.cu";
    write_atomically(path, "#include \"lab.hpp\"\nvoid scale(float *, int) { wrong(); }\n");
    built_submission b = p.build_at(path);
    std::filesystem::remove(path);
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, path + "(2): error"), b.message);
}

TEST_CASE("a file may be called what browsers and course systems call it")
{
    built_project p;
    CHECK(p.build_at(p.put("down loads/Ada; stub (1).cu", right)).built());
    built_submission b = p.build_at(p.put("-\xc3\xa4 $x.cu", right + "no_such_type x;\n"));
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, "-\xc3\xa4 $x.cu(8)"), b.message);
}

TEST_CASE("CUB and Thrust bring nothing that is refused")
{
    built_project p;
    p.tools.nvcc_flags.push_back("-std=c++20");
    std::erase(p.tools.nvcc_flags, "-std=c++14");
    built_submission b =
        p.build("#include <cub/device/device_reduce.cuh>\n#include <thrust/pair.h>\n"
                "#include <thrust/execution_policy.h>\n" +
                right);
    CHECK_MESSAGE(b.built(), b.message << b.diagnostics);
}

TEST_CASE("a warning that speaks of errors is not the first error")
{
    built_project p;
    built_submission b =
        p.build("#warning \"rounding error not looked at\"\nint h() { return no_such_name; }\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, "no_such_name"), b.message);
}

TEST_CASE("what ptxas says about inline assembly is the first error")
{
    built_project p;
    p.tools.nvcc_flags.push_back("-gencode=arch=compute_90,code=sm_90");
    built_submission b = p.build(right + "__global__ void one_more(int *p)\n{\n"
                                         "    asm(\"add.s33 %0, %0, 1;\" : \"+r\"(*p));\n}\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, "ptxas: error: Unknown modifier '.s33' (line "), b.message);
    CHECK_FALSE(contains(b.diagnostics, "/tmp/"));
}

TEST_CASE("a missing contract function is named")
{
    built_project p;
    built_submission b = p.build("#include \"lab.hpp\"\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK(b.message == "lab.hpp declares scale(float*, int); stub.cu does not define it");
    SUBCASE("static, it is not the contract's; warnings do not hide it")
    {
        built_submission s =
            p.build("static void scale(float *, int) {}\nvoid (*used)(float *, int) = scale;\n");
        CHECK(s.verdict == verdict::BUILD_FAILED);
        CHECK_MESSAGE(contains(s.diagnostics, "leave the word static out"), s.diagnostics);
        built_submission w = p.build("#warning \"unfinished\"\n");
        CHECK_MESSAGE(contains(w.diagnostics, "warning"), w.diagnostics);
        CHECK(w.message == b.message);
    }
}

TEST_CASE("names that nothing uses yet bring no warning")
{
    built_project p;
    built_submission b = p.build(right + "static int on_the_host() { int n = 1; return 2; }\n"
                                         "static __device__ int on_the_device() { return 1; }\n");
    CHECK(b.built());
    CHECK_MESSAGE(b.diagnostics == "", b.diagnostics);
}

TEST_CASE("a rung graded by itself is told that the rung below has what it lacks")
{
    built_project p;
    p.tools.labs[0].rungs = {"1_first"};
    built_submission b =
        p.build_at(p.put("solutions/02_scaling/1_first.cu", "#include \"lab.hpp\"\n"));
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK(b.message == "lab.hpp declares scale(float*, int); 1_first.cu does not define it");
    CHECK_MESSAGE(contains(b.hint, "./workbook demo 02"), b.hint);
}

TEST_CASE("of the compiler's warnings those are kept that a wrong answer may come from")
{
    const std::string read = "stub.cu(8): warning #20091-D: a __constant__ variable \"factor\" "
                             "cannot be directly read in a host function\n";
    const std::string rest = "  float f() { return factor[1]; }\n                 ^\n\n"
                             "Remark: The warnings can be suppressed with \"-diag-suppress\"\n"
                             "stub.cu(9): warning #177-D: variable \"n\" was declared but never "
                             "referenced\n";
    std::string used =
        "stub.cu(3): warning #549-D: variable \"y\" is used before its value is set\n";
    std::vector<std::string> kept = telling_warnings(used + rest + read + rest + used);
    CHECK(kept == std::vector<std::string>{"line 3: variable \"y\" is used before its value is set",
                                           "line 8: a __constant__ variable \"factor\" cannot "
                                           "be directly read in a host function"});
    CHECK(telling_warnings(rest).empty());
    CHECK(telling_warnings("stub.cu(5): warning #174-D: expression has no effect\n"
                           "      __syncthreads;\n      ^\n") ==
          std::vector<std::string>{
              "line 5: expression has no effect: a call needs (), __syncthreads()"});
    std::string many;
    for (int i = 1; i < 9; ++i)
        many += "a.cu(" + std::to_string(i) + "): warning #20092-D: and so on\n";
    CHECK(telling_warnings(many).size() == 3);
}

TEST_CASE("lines of any length that a submission has the compiler say are read")
{
    const std::string much(3'000'000, 'a'), digits(3'000'000, '7');
    CHECK(telling_warnings(much + "\n" + much + "(1): warning #549-D: x\nf.cu(" + digits +
                           "): warning #549-D: x\nf.cu(1): warning #" + digits + "-D: x\n")
              .size() == 1);
    built_project p;
    const std::string line =
        "asm(\".print \\\"" + std::string(60'000, 'a') + "\\\"\\n.error \\\"x\\\"\");\n";
    built_submission b =
        p.build("#include \"lab.hpp\"\n#ifndef __CUDA_ARCH__\n" + line + "#endif\n" + right);
    CHECK_MESSAGE(b.verdict == verdict::BUILD_FAILED, b.message);
}

TEST_CASE("an object too large or too slow to look at is refused in words, and not kept")
{
    built_project p;
    auto filled = [](std::size_t bytes) {
        return right + "#ifndef __CUDA_ARCH__\nasm(\".pushsection .text.big,\\\"ax\\\"\\n.fill " +
               std::to_string(bytes) + ",1,0x90\\n.popsection\");\n#endif\n";
    };
    const built_submission large = p.build(filled(60'000'000));
    CHECK(large.verdict == verdict::BUILD_REJECTED);
    CHECK_MESSAGE(contains(large.message, "57.2 MiB, and at most 16 MiB are allowed"),
                  large.message);
    build_limits limits;
    limits.check = std::chrono::seconds(1);
    const built_submission slow = p.build(filled(16'000'000), limits);
    CHECK(slow.verdict == verdict::BUILD_REJECTED);
    CHECK_MESSAGE(contains(slow.message, "objdump was not done after 1 s"), slow.message);
    for (const auto &e :
         std::filesystem::recursive_directory_iterator(p.root + "/build/submissions"))
        CHECK_FALSE_MESSAGE((e.is_regular_file() && e.file_size() > 1 << 20), e.path().string());
}

TEST_CASE("system calls are found behind any prefix")
{
    for (const char *line :
         {"   0:\tsyscall", "  1f:\trex.W syscall ", "   0:\trep sysenter",
          "   3:\tlock data16 rex.WRXB syscall", "   0:\tint    $0x80", "   0:\tsvc\t#0x0"}) {
        CAPTURE(line);
        CHECK(is_system_call(line));
    }
    for (const char *line :
         {"   0:\tcall   5 <syscall>", "0000000000000000 <syscall>:", "   0:\tint3",
          "   4:\tlea    0x0(%rip),%rdi        # b <int x>", "Disassembly of section int :"}) {
        CAPTURE(line);
        CHECK_FALSE(is_system_call(line));
    }
}

TEST_CASE("of a file with none of several functions one sentence is said")
{
    built_project p;
    p.put("build/02_scaling.kept", "_Z5scalePfi\n_Z5shiftPfi\n");
    built_submission stub = p.build("#include \"lab.hpp\"\n");
    CHECK(stub.verdict == verdict::BUILD_FAILED);
    CHECK(stub.message == "labs/02_scaling/stub.cu defines none of lab.hpp's functions");
    CHECK(stub.diagnostics == stub.message + "\n");
    CHECK(stub.hint == "to get the stub back: ./workbook reset 02");
    built_submission other = p.build_at(p.put("mine.cu", "#include \"lab.hpp\"\n"));
    CHECK(other.message == "mine.cu defines none of lab.hpp's functions");
    CHECK_FALSE(contains(other.hint, "reset"));
}

TEST_CASE("names that are not the student's are refused in words")
{
    built_project p;
    auto refused = [&](const std::string &more, const std::string &words) {
        built_submission b = p.build(right + more);
        CHECK(b.verdict == verdict::BUILD_REJECTED);
        CHECK_MESSAGE(contains(b.message, words), b.message);
        CHECK_FALSE(contains(b.message, "ld:"));
    };
    refused("int main() { return 0; }\n", "defines main");
    refused("cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { *ms = 0; "
            "return cudaSuccess; }\n",
            "defines cudaEventElapsedTime, which is a name of the CUDA API");
    refused("extern \"C\" void simulator_begin(); void f() { simulator_begin(); }\n",
            "uses simulator_begin, which belongs to the grader");
    refused("#include <sys/mman.h>\nvoid f(float *p) { mprotect(p, 4096, PROT_READ); }\n",
            "stub.cu uses mprotect, by which a program acts on its process or on others");
    refused("void f(void **p) { cudaGetDriverEntryPointByVersion(\"cuCtxCreate\", p, 12000, 0, "
            "nullptr); }\n",
            "uses cudaGetDriverEntryPointByVersion, which leads past the CUDA runtime");
    refused("long f() { long n; asm volatile(\"syscall\" : \"=a\"(n) : \"0\"(39)); return n; }\n",
            "stub.cu makes a system call in assembly");
}

TEST_CASE("ordinary C++ is not refused")
{
    built_project p;
    built_submission b = p.build(
        right + "#include <algorithm>\n#include <chrono>\n#include <fstream>\n#include <future>\n"
                "#include <iostream>\n#include <new>\n#include <random>\n#include <string>\n"
                "#include <thread>\n#include <vector>\n"
                "int said() { std::cout << std::ifstream(\"/tmp/x\").rdbuf(); return "
                "std::async([] { return int(std::random_device()()); }).get(); }\n"
                "double now() { return "
                "double(std::chrono::steady_clock::now().time_since_epoch().count()); }\n"
                "int cudas, cuda_main; static int main_(); int main_() { return cudas; }\n"
                "std::vector<std::string> f() { return {\"a\", std::to_string(main_())}; }\n"
                "void g() { float *p; cudaMalloc(&p, 4); cudaFuncSetAttribute(twice, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, 1); }\n");
    CHECK_MESSAGE(b.built(), b.message << b.diagnostics);
}

TEST_CASE("of system calls those remain that the C++ library's waits make")
{
    built_project p;
    std::string waiting = right + "#include <sys/syscall.h>\n#include <unistd.h>\n"
                                  "void wait(int *at) { syscall(SYS_futex, at, 0, 0, 0); }\n";
    built_submission b = p.build(waiting);
    CHECK(b.verdict == verdict::BUILD_FAILED); // this project's worker lacks the symbol
    CHECK_MESSAGE(contains(b.message, "uses futex_only_syscall"), b.message);
    p.make_worker_library("extern \"C\" long futex_only_syscall(long, ...) { return 0; }\n"
                          "int main() { scale(nullptr, 0); }\n");
    CHECK(p.build(waiting).built());
}

TEST_CASE("the headers beside the labs can be included, and no other file of theirs")
{
    built_project p;
    p.put("labs/02_scaling/mistakes.hpp", "#pragma once\n");
    for (const bool sandbox : {true, false}) {
        build_limits limits;
        limits.use_sandbox = sandbox;
        CHECK(p.build("#include \"../check.hpp\"\n#include \"../devices.hpp\"\n" + right, limits)
                  .built());
        CHECK_FALSE(p.build("#include \"mistakes.hpp\"\n" + right, limits).built());
    }
}

TEST_CASE("the solution, the grader and the machine's files cannot be included")
{
    built_project p;
    p.put("solutions/02_scaling/solution.cu", right);
    p.put("grader/secret.hpp", "#define secret 1\n");
    std::string secret = p.root + "/solutions/02_scaling/solution.cu";
    build_limits limits;
    SUBCASE("in a closed compile") { limits.use_sandbox = true; }
    SUBCASE("where nothing can be hidden") { limits.use_sandbox = false; }
    CHECK(p.build(right, limits).built());
    auto refused = [&](const std::string &text) {
        built_submission b = p.build(text, limits);
        CHECK_FALSE(b.built());
        bool known = b.verdict == verdict::BUILD_FAILED || b.verdict == verdict::BUILD_REJECTED;
        CHECK(known);
        CHECK_MESSAGE(!contains(b.message + b.diagnostics, "secret 1"), b.diagnostics);
    };
    refused("#include \"../../solutions/02_scaling/solution.cu\"\n");
    refused("#include \"" + secret + "\"\n");
    refused("#include \"lab.hpp\"\n#include \"../../grader/secret.hpp\"\n" + right);
    refused("asm(\".incbin \\\"" + secret + "\\\"\");\n" + right);
    if (limits.use_sandbox && grading::available_confinement(false) != grading::confinement::none)
        refused("#if __has_include(\"" + secret + "\")\nvoid scale(float *, int) {}\n#endif\n");
    // The header lies outside the project and the toolkit.
    std::string outside = "/var/tmp/cuda-workbook-test-" + std::to_string(getpid()) + ".hpp";
    write_atomically(outside, "#define twice_from_elsewhere 1\n");
    refused("#include \"" + outside + "\"\n" + right);
    std::filesystem::remove(outside);
}

TEST_CASE("what is no ordinary file is invalid")
{
    built_project p;
    auto invalid = [&](const std::string &path, const std::string &words) {
        built_submission b = p.build_at(path);
        CHECK(b.verdict == verdict::SUBMISSION_INVALID);
        CHECK_MESSAGE(contains(b.message, words), b.message);
    };
    std::string good_file = p.put("labs/02_scaling/good.cu", right);
    invalid(p.root + "/none.cu", "No such file");
    invalid(p.root + "/labs", "is a folder");
    invalid(p.put("big.cu", std::string((256 << 10) + 1, ' ')), "larger than 256 KiB");
    invalid(p.put("text.txt", right), "not a .cu file");
    REQUIRE(symlink(good_file.c_str(), (p.root + "/link.cu").c_str()) == 0);
    invalid(p.root + "/link.cu", "symbolic link");
    REQUIRE(mkfifo((p.root + "/pipe.cu").c_str(), 0600) == 0);
    invalid(p.root + "/pipe.cu", "not a regular file");
    CHECK(p.build_at(p.put("exact.cu", right + std::string((256 << 10) - right.size(), '\n')))
              .built());
}

TEST_CASE("a compile without end is stopped")
{
    built_project p;
    build_limits limits;
    limits.wall = std::chrono::seconds(2);
    auto start = std::chrono::steady_clock::now();
    built_submission b = p.build("#include \"lab.hpp\"\n"
                                 "template <int N, int M> struct f { static const long v = f<N - "
                                 "1, M>::v + f<N - 1, M + N>::v; };\n"
                                 "template <int M> struct f<0, M> { static const long v = M; };\n"
                                 "void scale(float *data, int) { *data = f<190, 1>::v; }\n",
                                 limits);
    CHECK_MESSAGE(b.verdict == verdict::BUILD_TIMEOUT, b.message << b.diagnostics);
    CHECK(contains(b.message, "after 2 s"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(8));
}

TEST_CASE("what the compiler says is capped and made safe")
{
    built_project p;
    std::string text;
    for (int i = 0; i < 3000; ++i)
        text += "#warning \x1b[2Jclear <script>" + std::to_string(i) + "\n";
    built_submission b = p.build(text + "#error the end\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK(b.diagnostics.size() <= (16 << 10) + 100);
    CHECK_FALSE(contains(b.diagnostics, "\x1b"));
}

TEST_CASE("the environment does not reach the compiler")
{
    built_project p;
    setenv("NVCC_APPEND_FLAGS", "--no-such-flag", 1);
    setenv("CPATH", (p.root + "/grader").c_str(), 1);
    p.put("grader/secret.hpp", "\n");
    CHECK(p.build(right).built());
    CHECK_FALSE(p.build("#include <secret.hpp>\n" + right).built());
    unsetenv("NVCC_APPEND_FLAGS");
    unsetenv("CPATH");
}

TEST_CASE("a name that nothing defines is said by name")
{
    built_project p;
    built_submission b = p.build("void helper();\n" + right + "void more() { helper(); }\n");
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK_MESSAGE(contains(b.message, "uses helper()"), b.message);
}

TEST_CASE("a compiler or a linker that somebody killed is no fault of the submission")
{
    built_project p;
    auto said = [&](const std::string &text) {
        try {
            p.build(text);
        } catch (const machine_error &e) {
            return std::string(e.what());
        }
        return std::string("no machine_error");
    };
    std::string nvcc = p.tools.nvcc;
    for (const char *end :
         {"kill -9 $$", "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"; exit 9",
          "echo 'gcc: fatal error: Killed signal terminated program cc1plus'; exit 1"}) {
        p.tools.nvcc = p.script("bin/nvcc", end);
        CHECK(contains(said(right), "was killed by signal 9 (SIGKILL) while it worked on labs/02"));
    }
    p.tools.nvcc = p.script("bin/nvcc", "kill -15 $$");
    CHECK(contains(said(right), "signal 15 (SIGTERM)"));
    p.tools.nvcc = p.script("bin/nvcc", "kill -11 $$");
    built_submission b = p.build(right);
    CHECK(b.verdict == verdict::BUILD_FAILED);
    CHECK(
        contains(b.message, "the compiler itself crashed at labs/02_scaling/stub.cu (signal 11)"));
    p.tools.nvcc = nvcc;
    p.tools.cxx = {p.script("bin/c++", "echo 'collect2: fatal error: ld terminated with signal 9 "
                                       "[Killed]'; exit 1")};
    CHECK(contains(said(right), "killed by signal 9"));
    // A file that only claims so gets its own error.
    built_project q;
    b = q.build("#error gcc: fatal error: Killed signal terminated program cc1plus\n" + right);
    CHECK(contains(b.message, "#error"));
}

TEST_CASE("the linker sees none of the machine's other files" *
          doctest::skip(grading::available_confinement(false) == grading::confinement::none))
{
    built_project p;
    // The compiler lies outside the project, beside a file that it must not see.
    const std::string secret = temporary.path + "/secret", bin = temporary.path + "/tools/bin";
    write_atomically(secret, "known to nobody");
    std::filesystem::create_directories(bin);
    std::filesystem::rename(p.script("bin/c++", "[ ! -e " + secret + " ] && exec g++ \"$@\""),
                            bin + "/c++");
    p.tools.cxx = {bin + "/c++"};
    built_submission b = p.build(right);
    CHECK_MESSAGE(b.built(), b.message << b.diagnostics);
}

TEST_CASE("an object file that no tool gets through is the submission's fault")
{
    built_project p;
    built_submission b =
        p.build("asm(\".section .dynamic,\\\"aw\\\",@6\\n.quad 5,-1,4,-1,0,0\\n\"\n"
                "    \".section .dynsym,\\\"a\\\",@11\\n.quad -1,-1,-1\\n\"\n"
                "    \".section .hash,\\\"a\\\",@5\\n.quad -1\\n.text\");\n" +
                std::string(right));
    CHECK(b.verdict == verdict::BUILD_REJECTED);
    CHECK_MESSAGE(contains(b.message, "its object file is none that objdump can read"), b.message);
}

TEST_CASE("a disk, a limit or a permission that stops the compiler is no fault of the submission")
{
    built_project p;
    const std::string path = p.put("labs/02_scaling/stub.cu", right);
    auto said = [&] {
        try {
            built_submission b = p.build_at(path);
            return "a verdict: " + b.message;
        } catch (const machine_error &e) {
            return std::string(e.what());
        }
    };
    SUBCASE("whatever it compiles")
    {
        // The line names one of our files, which students must not see.
        for (const char *reason : {"No space left on device", "Read-only file system",
                                   "Disk quota exceeded", "Too many open files"}) {
            p.tools.nvcc =
                p.script("bin/nvcc", fmt::format("echo \"$PWD/.made/a.ii: {}\"; exit 1", reason));
            CHECK_MESSAGE(contains(said(), "this is no fault of the submission"), said());
            CHECK(contains(said(), reason));
        }
        p.tools.nvcc = p.script("bin/nvcc", "echo 'cc1plus: out of memory'; exit 1");
        CHECK_MESSAGE(contains(said(), "this is no fault of the submission"), said());
    }
    SUBCASE("for a moment: it is compiled again")
    {
        std::string full = p.put("full", "");
        p.tools.nvcc = p.script("bin/nvcc", fmt::format("[ -e {0} ] && rm {0} && echo 'a.ii: No "
                                                        "space left on device' && exit 1\n"
                                                        "exec {1} \"$@\"",
                                                        full, p.tools.nvcc));
        build_limits open;
        open.use_sandbox = false;
        built_submission b = p.build(right, open);
        CHECK_MESSAGE(b.built(), b.message);
    }
    SUBCASE("a file says so itself")
    {
        built_submission b = p.build("#error No space left on device\n" + right);
        CHECK(b.verdict == verdict::BUILD_FAILED);
        CHECK(contains(b.message, "#error"));
    }
    SUBCASE("files may not grow")
    {
        pid_t pid = fork();
        if (pid == 0) {
            rlimit least{100 << 10, 100 << 10};
            setrlimit(RLIMIT_FSIZE, &least);
            signal(SIGXFSZ, SIG_IGN); // handle_signals does the same
            _exit(contains(said(), "File too large.\n  what to do: raise the limit of a file's "
                                   "size (ulimit -f)")
                      ? 0
                      : 1);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    SUBCASE("there is less memory than a submission may have")
    {
        p.tools.nvcc = p.script("bin/nvcc", "echo 'cc1plus: out of memory'; exit 1");
        pid_t pid = fork();
        if (pid == 0) {
            rlimit least{4ull << 30, 4ull << 30};
            setrlimit(RLIMIT_AS, &least);
            _exit(contains(said(), "only 4096 MiB of memory here") ? 0 : 1);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    SUBCASE("the folder for temporary files may not be written")
    {
        std::string before = temporary.path;
        chmod(p.root.c_str(), 0755);
        std::filesystem::create_directory(p.root + "/closed");
        chmod((p.root + "/closed").c_str(), 0555);
        std::filesystem::permissions(p.root + "/build", std::filesystem::perms(0777));
        // An earlier test may have created and closed this program's own folder.
        const scratch_folder made;
        const std::string own = std::filesystem::path(made.path()).parent_path();
        setenv("TMPDIR", (p.root + "/closed").c_str(), 1);
        chmod(own.c_str(), 0555);
        std::string words;
        {
            ordinary_user user;
            words = said();
        }
        chmod(own.c_str(), 0700);
        setenv("TMPDIR", before.c_str(), 1);
        CHECK_MESSAGE(contains(words, "/closed: Permission denied.\n  what to do: get the right "
                                      "to write in"),
                      words);
    }
}

TEST_CASE("a file that nobody here may read is no fault of the submission; a name too long is")
{
    built_project p;
    std::string path = p.put("mine.cu", right);
    chmod(p.root.c_str(), 0755);
    chmod(path.c_str(), 0);
    {
        ordinary_user user;
        CHECK_THROWS_WITH_AS(p.build_at(path),
                             "mine.cu cannot be read: Permission denied.\n  what to do: get the "
                             "right to read it (ls -l says whose it is), then run this again",
                             machine_error);
    }
    built_submission b = p.build_at(p.put(std::string(178, 'a') + ".cu", right));
    CHECK(b.verdict == verdict::SUBMISSION_INVALID);
    CHECK_MESSAGE(contains(b.message, "has a name of 181 bytes"), b.message);
    b = p.build_at(p.root + "/" + std::string(247, 'a') + ".cu");
    CHECK(b.verdict == verdict::SUBMISSION_INVALID);
    b = p.build_at(p.root + "/" + std::string(300, 'a') + ".cu");
    CHECK(b.verdict == verdict::SUBMISSION_INVALID);
    CHECK(p.build_at(p.put(std::string(177, 'a') + ".cu", right)).built());
}

TEST_CASE("a broken worker library is no fault of the submission")
{
    built_project p;
    p.put("build/libworker.a", "no archive\n");
    CHECK_THROWS_AS(p.build(right), machine_error);
}

TEST_CASE("two builds of one file at once agree")
{
    built_project p;
    std::string path = p.put("labs/02_scaling/stub.cu", right);
    built_submission results[2];
    {
        std::jthread a([&] { results[0] = p.build_at(path); });
        std::jthread b([&] { results[1] = p.build_at(path); });
    }
    CHECK(results[0].built());
    CHECK(results[0].workers == results[1].workers);
    for (const auto &e :
         std::filesystem::recursive_directory_iterator(p.root + "/build/submissions"))
        CHECK_FALSE(contains(e.path().string(), ".new."));
}

TEST_CASE("the lint reads nm's lines")
{
    CHECK(lint_symbols("                 U cudaMalloc\n0000000000000000 T _Z5scalePfi\n", "f.cu") ==
          "");
    CHECK(lint_symbols("0000000000000000 W _ZNSt6chrono3_V212steady_clock3nowEv\n", "f.cu") == "");
    CHECK(lint_symbols("0000000000000000 t main\n", "f.cu") ==
          "f.cu defines main; the grader has its own and calls your functions");
    CHECK(lint_symbols("                 U _ZN7doctest5reachEv\n", "f.cu") != "");
    CHECK(lint_symbols("0000000000000000 t cuLaunchKernel\n", "f.cu") != "");
    CHECK(lint_symbols("0000000000000000 t clock_gettime\n", "f.cu") ==
          "f.cu replaces clock_gettime, which belongs to the system");
    CHECK(lint_symbols("0000000000000000 t _Znwm\n", "f.cu") ==
          "f.cu replaces operator new(unsigned long), which belongs to the system");
    CHECK(lint_symbols("                 U _ZN7grading4passEv\n", "f.cu") ==
          "f.cu uses grading::pass(), which belongs to the grader");
    CHECK(lint_symbols("                 U _Z14yardstick_nullv\n", "f.cu") != "");
    // Each part of this name repeats the one before twice: demangled it takes terabytes.
    std::string without_end = "_Z1fI1aIiiE";
    for (const char k : std::string("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        without_end += std::string("S0_IS") + k + "_S" + k + "_E";
    CHECK(lint_symbols("                 w " + without_end + "Evv\n", "f.cu") == "");
    const std::string ours = without_end + "N7grading1xEEvv";
    CHECK(lint_symbols("                 U " + ours + "\n", "f.cu") ==
          "f.cu uses " + ours + ", which belongs to the grader");
    for (std::string name :
         {"fork", "__open64_2", "mmap64", "__libc_dlsym", "_dl_sym", "dup2@GLIBC_2.2.5",
          "_ZNSt12__basic_fileIcE8sys_openEiSt13_Ios_Openmode", "_ZGVN9simulator3oneE"}) {
        CAPTURE(name);
        CHECK(lint_symbols("                 U " + name + "\n", "f.cu") != "");
    }
    for (std::string name : {"fopen", "fwrite", "__cudaGetKernel", "pthread_create", "__dso_handle",
                             "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode"})
        CHECK(lint_symbols("                 U " + name + "\n", "f.cu") == "");
    CHECK(lint_symbols("                 U fork\n", "f.cu", true) == "");
    CHECK(lint_symbols("0000000000000000 t cudalike\n0000000000000000 b current\n", "f.cu") == "");
}

TEST_CASE("files are compiled together, but for one that sets a macro for a header")
{
    built_project p;
    const std::string one = p.put("wrong/one.cu", right), two = p.put("wrong/two.cu", right),
                      apart = p.put("wrong/apart.cu", "#include \"lab.hpp\"\n#define NDEBUG\n"
                                                      "#include <cassert>\n" +
                                                          right);
    double cpu_seconds = 0;
    const std::vector<std::string> gpu = {"gpu"};
    auto objects = compile_together(p.tools, p.only_lab(), {one, two, apart}, gpu, cpu_seconds);
    CHECK(objects.size() == 2);
    CHECK(cpu_seconds > 0);
    for (const std::string &path : {one, two}) {
        REQUIRE(objects.contains(path));
        const built_submission b =
            build_submission(p.tools, {&p.only_lab(), path, gpu, objects[path]});
        CHECK_MESSAGE(b.built(), b.message << b.diagnostics);
    }
    const std::string broken = p.put("wrong/broken.cu", right + "missing;\n");
    CHECK(compile_together(p.tools, p.only_lab(), {one, broken}, gpu, cpu_seconds).empty());
}
