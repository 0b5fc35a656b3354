// Checks for the small programs that run on the simulator, and the findings that it made meanwhile.
//
// A program that asks for no finding runs on a GPU as well: nvcc -std=c++20 -arch=native -DON_GPU
// -Igrader PROGRAM.cu, in the project's folder.
#pragma once

#include "simulator/machine/finding.hpp"
#include "simulator/machine/timeline.hpp"
#include "simulator/runtime/harness.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

inline int failures = 0;

inline void expect(bool good, const char *what, const char *file, int line)
{
    if (good) return;
    std::printf("%s:%d: failed: %s\n", file, line, what);
    ++failures;
}

inline void expect_error(cudaError_t wanted, cudaError_t got, const char *what, const char *file,
                         int line)
{
    if (got == wanted) return;
    std::printf("%s:%d: failed: %s gave %s, not %s\n", file, line, what, cudaGetErrorName(got),
                cudaGetErrorName(wanted));
    ++failures;
}

#define CHECK(...) expect((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_ERROR(error, call) expect_error(error, call, #call, __FILE__, __LINE__)
#define CHECK_CUDA(call) CHECK_ERROR(cudaSuccess, call)

inline std::vector<simulator_finding> found()
{
    std::vector<simulator_finding> all(64);
    all.resize(std::min(simulator_findings(all.data(), all.size()), all.size()));
    return all;
}

inline bool is(const simulator_finding &f, simulator::finding_kind kind)
{
    return f.kind == static_cast<unsigned char>(kind);
}

// The last line of a program in which everything is right: no failed check, no finding.
inline int done()
{
#ifndef ON_GPU
    for (const auto &f : found()) {
        if (is(f, simulator::finding_kind::refused_launch)) continue; // the error code was checked
        if (is(f, simulator::finding_kind::older_value)) continue;    // no fault by itself
        std::printf("finding of kind %d in %s, %s:%d: %s; %s\n", f.kind, f.kernel, f.file, f.line,
                    f.where, f.detail);
        ++failures;
    }
#endif
    return failures != 0;
}

// Since simulator_begin(): the sum of the numbers that the counters give under this name, of each
// line of a kernel or of all copies, once all work is done.
inline std::uint64_t counted(const std::string &name)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    std::string json(simulator_counters(nullptr, 0) + 1, 0);
    simulator_counters(json.data(), json.size());
    const std::string key = '"' + name + "\":";
    std::uint64_t sum = 0;
    std::size_t at = json.find(key);
    CHECK(at != json.npos);
    for (; at != json.npos; at = json.find(key, at + 1))
        sum += std::stoull(json.substr(at + key.size()));
    return sum;
}

// A fault ends CUDA for its process, so each that is tested has its own. True: no check failed
// there.
template <typename function> bool in_child(function body)
{
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        failures = 0;
        body();
        std::fflush(stdout);
        _exit(failures != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The first line of a source file that holds `text`, so that tests do not break when lines move.
inline int line_with(const char *file, const char *text)
{
    std::ifstream in(file);
    std::string line;
    for (int n = 1; std::getline(in, line); ++n)
        if (line.find(text) != line.npos) return n;
    std::printf("%s has no line with %s\n", file, text);
    ++failures;
    return 0;
}

template <typename T> T *upload(const std::vector<T> &from)
{
    T *to = nullptr;
    CHECK_CUDA(cudaMalloc(&to, from.size() * sizeof(T)));
    CHECK_CUDA(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

template <typename T> std::vector<T> download(const T *from, std::size_t n)
{
    std::vector<T> to(n);
    CHECK_CUDA(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}
