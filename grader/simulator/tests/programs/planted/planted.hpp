// Faults planted in small kernels and programs, each with a twin that lacks the fault. Every one
// runs in a process of its own, since after most of them nothing else can.
#pragma once

struct planted {
    const char *name; // of the fault
    const char *line; // of its file: what the line holds where it is found first; null: a host call
    simulator::finding_kind kind;
    std::vector<std::string> said; // parts of what is said about it
    void (*run)(bool faulty);
};

inline std::vector<int> increasing(int n)
{
    std::vector<int> numbers(n);
    for (int i = 0; i < n; ++i) numbers[i] = i;
    return numbers;
}

// n ints of device memory that hold 0, 1, 2, ..., which messages call `data`.
inline int *numbers(int n)
{
    int *p = upload(increasing(n));
    simulator_label(p, n * sizeof(int), "data");
    return p;
}

// Device memory that nobody has written.
template <typename T> T *unwritten(int n)
{
    T *p = nullptr;
    CHECK_CUDA(cudaMalloc(&p, n * sizeof(T)));
    simulator_label(p, n * sizeof(T), "data");
    return p;
}

inline std::string all_said(const simulator_finding &f)
{
    const auto missing = static_cast<simulator::missing_order>(f.missing);
    const bool warp = missing == simulator::missing_order::warp_barrier;
    return std::string(f.kernel) + ": " + f.where + "; " + f.detail +
           (warp ? "; __syncwarp() would do" : "");
}

// One finding, of the right kind, at the right line, in the right words. Only a race may show at
// several places.
inline bool found_as(const planted &p, const char *file)
{
    const auto all = found();
    bool right = p.kind == simulator::finding_kind::race ? !all.empty() : all.size() == 1;
    for (const auto &f : all) right = right && is(f, p.kind);
    if (right) {
        const std::string said = all_said(all[0]);
        right = all[0].line == (p.line ? line_with(file, p.line) : 0);
        for (const auto &part : p.said) right = right && said.find(part) != said.npos;
    }
    if (!right) std::printf("%s: wanted kind %d at `%s`\n", p.name, int(p.kind), p.line);
    for (const auto &f : all)
        if (!right) std::printf("    kind %d, line %d, %s\n", f.kind, f.line, all_said(f).c_str());
    return right;
}

inline bool is_silent(const planted &p, cudaError_t ended)
{
    const bool right = ended == cudaSuccess && found().empty();
    if (!right) std::printf("%s, without it: %s\n", p.name, cudaGetErrorName(ended));
    for (const auto &f : found())
        std::printf("    kind %d, line %d, %s\n", f.kind, f.line, all_said(f).c_str());
    return right;
}

inline bool as_wanted(const planted &p, bool faulty, const char *file)
{
    return in_child([&] {
        simulator_begin(), simulator_limit_work(600000000);
        p.run(faulty);
        const cudaError_t ended = cudaDeviceSynchronize();
        if (faulty) failures = 0; // the calls that fail are the fault's
        CHECK(faulty ? found_as(p, file) : is_silent(p, ended));
    });
}

struct planted_count {
    int faults = 0, silent = 0, all = 0;
    void run(const std::vector<planted> &some, const char *file)
    {
        for (const planted &p : some) {
            ++all;
            faults += as_wanted(p, true, file);
            silent += as_wanted(p, false, file);
        }
    }
};
