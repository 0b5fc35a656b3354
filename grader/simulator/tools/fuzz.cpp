// Feeds damaged PTX and fat binaries to the simulator, which must refuse or run them without a
// crash, a hang or an exception other than std::runtime_error.
//
//   fuzz_simulator SECONDS FOLDER FILE...
//
// Each FILE is PTX or an object file in which nvcc has embedded PTX. Inputs that bring the
// simulator down are kept in FOLDER, named after the exit status, beside their output. SECONDS 0
// runs the files unchanged, to reproduce such a case.
#include "simulator/machine/machine.hpp"
#include "simulator/machine/memory.hpp"
#include "simulator/machine/work_meter.hpp"
#include "simulator/ptx/fatbin.hpp"
#include "simulator/ptx/link_ptx.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace simulator;

constexpr std::size_t buffer_bytes = 64 << 10;
constexpr unsigned max_seconds = 20; // per text
constexpr int batch = 500;           // texts per process, because device addresses are never reused
constexpr rlim_t max_memory_kib = 4 << 20; // on top of the initial memory of the process

struct example {
    std::string text; // PTX, or a fat binary
    bool binary;
};

std::string contents(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::span<const std::byte> as_bytes(const std::string &s)
{
    return std::as_bytes(std::span(s.data(), s.size()));
}

// Adds the fat binaries of an object file, and the PTX in them.
void add_examples(const std::string &path, std::vector<example> &out)
{
    static const char magic[] = "\x50\xed\x55\xba\x01\x00\x10";
    const std::string whole = contents(path);
    bool any = false;
    for (std::size_t at = 0; (at = whole.find(magic, at, 7)) != whole.npos; ++at) {
        std::uint64_t size = 0;
        if (whole.size() - at < 16) break;
        std::memcpy(&size, whole.data() + at + 8, 8);
        if (size > whole.size() - at - 16) continue;
        any = true;
        const std::string image = whole.substr(at, 16 + size);
        out.push_back({image, true});
        try {
            out.push_back({ptx_of_image(as_bytes(image), 80), false});
        } catch (const std::runtime_error &) { // it holds only machine code
        }
    }
    if (!any) out.push_back({whole, false});
}

using random_engine = std::mt19937_64;
std::size_t random_below(random_engine &d, std::size_t n) { return n == 0 ? 0 : d() % n; }

// Picks a random word of PTX; returns its position and length.
std::pair<std::size_t, std::size_t> word_of(random_engine &d, const std::string &text)
{
    static const std::string between = " \t\n,;[](){}";
    std::size_t first = text.find_first_not_of(between, random_below(d, text.size()));
    if (first == text.npos) return {0, 0};
    return {first, std::min(text.find_first_of(between, first), text.size()) - first};
}

void damage_text(random_engine &d, std::string &text, const std::string &other)
{
    static const char *const strange[] = {
        "0",     "-1",         "4294967296", "18446744073709551615",
        "%r1",   "%rd1",       "%p1",        "%f1",
        "{",     "}",          "[",          ";",
        "@%p1 ", "_",          ".v4",        ".b64",
        ".u8",   "0x7fffffff", "%tid.x",     ""};
    auto [at, length] = word_of(d, text);
    switch (random_below(d, 7)) {
    case 0:
        text.erase(at, length);
        break;
    case 1:
        text.replace(at, length, strange[random_below(d, std::size(strange))]);
        break;
    case 2: { // a word from another place
        auto [from, n] = word_of(d, other);
        text.replace(at, length, other, from, n);
        break;
    }
    case 3: { // a line from another place
        std::size_t from = other.rfind('\n', random_below(d, other.size()));
        if (from == other.npos) break;
        std::size_t end = std::min(other.find('\n', from + 1), other.size());
        std::size_t to = std::min(text.find('\n', at), text.size());
        text.insert(to, other, from, end - from);
        break;
    }
    case 4:
        text.erase(at, random_below(d, 200));
        break;
    case 5:
        if (!text.empty()) text[random_below(d, text.size())] = static_cast<char>(d());
        break;
    default:
        if (random_below(d, 8) == 0) text.resize(random_below(d, text.size()));
    }
}

void damage_binary(random_engine &d, std::string &image)
{
    const std::size_t head = std::min<std::size_t>(image.size(), 160);
    switch (random_below(d, 4)) {
    case 0:
        if (head != 0) image[random_below(d, head)] = static_cast<char>(d());
        break;
    case 1:
        if (head >= 8) {
            const std::uint64_t v =
                random_below(d, 2) ? d() : ~std::uint64_t{0} << random_below(d, 64);
            std::memcpy(image.data() + random_below(d, head - 7), &v, 8);
        }
        break;
    case 2:
        image.resize(random_below(d, image.size()));
        break;
    default:
        if (!image.empty()) image[random_below(d, image.size())] = static_cast<char>(d());
    }
}

example damaged(const std::vector<example> &examples, std::uint64_t seed)
{
    random_engine d(seed);
    example e = examples[random_below(d, examples.size())];
    const example &other = examples[random_below(d, examples.size())];
    for (std::size_t n = 1 + random_below(d, 5); n > 0; --n)
        e.binary ? damage_binary(d, e.text) : damage_text(d, e.text, other.text);
    return e;
}

// Each 8-byte parameter points to the buffer, each 4-byte parameter is a small number.
void run(module &m, const kernel_info &k, address buffer)
{
    if (k.parameter_bytes > 4096) return;
    std::vector<std::byte> bytes(k.parameter_bytes);
    for (const auto &p : k.parameters) {
        const std::uint64_t v = p.bytes == 8 ? buffer : 40;
        std::memcpy(bytes.data() + p.offset, &v, std::min<std::size_t>(p.bytes, 8));
    }
    launch config;
    config.grid = {2, 1, 1};
    config.block = {64, 1, 1};
    config.dynamic_shared = 1024;
    config.parameters = bytes;
    m.run(k, config);
}

void attempt_text(const std::string &text)
{
    static const address buffer =
        memory::instance().allocate(buffer_bytes, memory_kind::device, 0).value();
    std::memset(memory::instance().at(buffer), 1, buffer_bytes);
    memory::instance().mark(buffer, buffer_bytes, initialised, 0);
    module m(text, 0);
    for (const auto &name : m.kernels())
        if (const kernel_info *k = m.find_kernel(name)) run(m, *k, buffer);
}

void attempt(const example &e)
{
    try {
        if (!e.binary) return attempt_text(e.text);
        // A copy of exact size lets an address sanitizer see reads past the end.
        const std::string exact(e.text);
        attempt_text(link_ptx({ptx_of_image(as_bytes(exact), 80)}));
    } catch (const std::runtime_error &) { // refused
    }
}

void limit_memory()
{
    memory::instance(); // the address reservation counts towards the limit
    std::ifstream status("/proc/self/status");
    rlim_t used = 0;
    for (std::string word; status >> word;)
        if (word == "VmData:") status >> used;
    const rlimit limit{(used + max_memory_kib) * 1024, (used + max_memory_kib) * 1024};
    setrlimit(RLIMIT_DATA, &limit);
}

// Tries the inputs make(first), make(first + 1), ... in a child process. `reached` receives the
// current index. Returns the child's wait status.
template <class F> int in_process(std::uint64_t first, int n, volatile std::uint64_t *reached,
                                  const std::string &log, F make)
{
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (!std::freopen(log.c_str(), "w", stdout) || dup2(1, 2) != 2) _exit(1);
        limit_memory();
        for (std::uint64_t k = first; k < first + static_cast<std::uint64_t>(n); ++k) {
            *reached = k;
            alarm(max_seconds);
            work_meter::instance().limit(2'000'000);
            attempt(make(k));
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

std::string exit_name(int status)
{
    return WIFSIGNALED(status) ? "signal_" + std::to_string(WTERMSIG(status))
                               : "exit_" + std::to_string(WEXITSTATUS(status));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s SECONDS FOLDER FILE...\n", argv[0]);
        return 2;
    }
    using clock = std::chrono::steady_clock;
    std::vector<example> examples;
    for (int i = 3; i < argc; ++i) add_examples(argv[i], examples);
    const std::string folder = argv[2], log = folder + "/log.txt";
    auto *reached = static_cast<volatile std::uint64_t *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::uint64_t next = std::random_device()(), tried = 0, failed = 0;
    const auto end = clock::now() + std::chrono::seconds(std::stol(argv[1]));
    if (std::stol(argv[1]) == 0)
        for (const example &e : examples) {
            const int status = in_process(0, 1, reached, log, [&](std::uint64_t) { return e; });
            std::printf("%s\n", status == 0 ? "refused or run" : exit_name(status).c_str());
            failed += status != 0;
        }
    while (clock::now() < end) {
        auto make = [&](std::uint64_t seed) { return damaged(examples, seed); };
        const int status = in_process(next, batch, reached, log, make);
        tried += *reached - next + 1;
        if (status != 0) {
            const example e = make(*reached);
            const std::string name =
                folder + "/" + exit_name(status) + "_" + std::to_string(*reached);
            std::ofstream(name + (e.binary ? ".fatbin" : ".ptx"), std::ios::binary) << e.text;
            std::rename(log.c_str(), (name + ".txt").c_str());
            std::printf("%s\n", name.c_str());
            ++failed;
        }
        next = *reached + 1;
    }
    std::printf("%llu tried, %llu brought the simulator down\n",
                static_cast<unsigned long long>(tried), static_cast<unsigned long long>(failed));
    return failed != 0;
}
