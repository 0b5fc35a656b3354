// Tests whole benchmarks between processes without a GPU. This program also plays the workers: they
// keep their buffers in host memory and sleep while a device would work. A worker that claims to be
// a simulator also plays the device, which then holds the buffers and does the work.
//
// Each benchmark below is a speed case of the grader; the tests then read its records.
#define DOCTEST_CONFIG_IMPLEMENT
#include "process/contract.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/runtime/harness.h"
#include "speed/calibration.hpp"
#include "speed/paired_benchmark.hpp"
#include "speed/recorded_pairs.hpp"
#include "worker/yardstick_work.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <string_view>
#include <thread>

#include <nlohmann/json.hpp>

namespace grading {

// The contract of these benchmarks, as in the parent's table of names.
extern const entry contract[] = {{"add_one", "in,out,n", nullptr, 0},
                                 {"add_one_in_place", "data,n", nullptr, 0}};
extern const int contract_size = 2, contract_devices = 2;

} // namespace grading

using namespace grading;

void add_one(const int *in, int *out, int n);
void add_one_in_place(int *data, int n);

namespace {

constexpr double naive_ms = 8;
constexpr int marked_form = -7; // first element of an input in the submission's own form

// An imitated worker. The name by which it was started selects its behaviour.
class imitation {
public:
    imitation(const std::filesystem::path &program, std::byte *in, std::byte *out)
        : kind_(program.filename()),
          in_(in),
          out_(out),
          device_(open(program.parent_path().c_str(), O_RDONLY | O_DIRECTORY))
    {
        if (kind_ == "device") {
            part_ = part::device;
            kind_ = name_of_host();
        } else if (send(device_fd, kind_.data(), kind_.size(), MSG_NOSIGNAL) > 0) {
            part_ = part::host;
        }
        if (kind_ == "takes all memory") flock(device_, LOCK_SH);
    }

    reply handle(const request &r)
    {
        reply a;
        a.what = r.what;
        std::copy(r.nonce, r.nonce + 2, a.nonce);
        if (part_ == part::host) return a;
        if (r.what == command::facts) facts(r.offset);
        if (r.what == command::load && (kind_ == "says there is no memory" || taken()))
            a.status = reply_status::out_of_memory;
        else if (r.what == command::load)
            load(r);
        if (r.what == command::patch)
            std::memcpy(payload(r.set, r.index) + r.at, in_ + r.offset, r.bytes);
        if (r.what == command::poison) poison(r);
        if (r.what == (part_ == part::device ? command::end : command::run)) run(r, a);
        if (r.what == command::store) store(r);
        if (r.what == command::drop) sets_.erase(r.set);
        if (r.what == command::report) report(r.offset);
        return a;
    }

private:
    enum class part { all, host, device }; // a host's device does all the work

    static std::string name_of_host()
    {
        char name[64] = {};
        if (read(device_fd, name, sizeof name - 1) <= 0) _exit(2);
        return name;
    }

    // Returns true if another process has taken all device memory, which a lock stands for.
    bool taken() const
    {
        if (kind_ != "naive" || flock(device_, LOCK_EX | LOCK_NB) != 0) return kind_ == "naive";
        flock(device_, LOCK_UN);
        return false;
    }

    struct set {
        std::vector<argument_descriptor> descriptors;
        std::vector<std::vector<std::byte>> images;
    };

    void facts(std::uint64_t offset)
    {
        device_facts f;
        f.present = 1;
        std::strcpy(f.name, "an imitation");
        f.multiprocessors = 2;
        f.l2_bytes = 1 << 20;
        f.memory_bytes = 64 << 20;
        f.memory_free = taken() ? 0 : std::uint64_t{1} << 32; // for the sets of many elements
        std::memcpy(out_ + offset, &f, sizeof f);
    }

    void load(const request &r)
    {
        set s;
        for (std::uint32_t i = 0; i < r.argument_count; ++i) {
            const argument_descriptor &a = r.arguments[i];
            s.descriptors.push_back(a);
            s.images.emplace_back(in_ + a.input, in_ + a.input + a.bytes + 2 * a.guard);
        }
        sets_[r.set] = s;
    }

    std::byte *payload(std::uint32_t number, std::size_t index)
    {
        set &s = sets_.at(number);
        return s.images.at(index).data() + s.descriptors.at(index).guard;
    }

    void poison(const request &r)
    {
        set &s = sets_.at(r.set);
        for (std::size_t i = 0; i < s.descriptors.size(); ++i)
            for (std::size_t at = 0; s.descriptors[i].output && at + 4 <= s.descriptors[i].bytes;
                 at += 4)
                std::memcpy(payload(r.set, i) + at, &r.pattern, 4);
    }

    void store(const request &r)
    {
        set &s = sets_.at(r.set);
        for (std::size_t i = 0; i < s.descriptors.size(); ++i)
            if (!((r.flags & writable_only) && s.descriptors[i].read_only))
                std::copy(s.images[i].begin(), s.images[i].end(),
                          out_ + s.descriptors[i].output_at);
    }

    void run(const request &r, reply &a)
    {
        std::string_view function = r.function;
        if (function.starts_with("yardstick")) return measure(function, r.calls, a);
        ++runs_;
        if (kind_ == "crashes" && runs_ == 9) std::abort();
        if (kind_ == "loses memory") {
            a.status = reply_status::cuda_error;
            a.step = run_step::synchronise;
            a.error = 719;
            std::strcpy(a.error_name, "cudaErrorLaunchFailure");
            return;
        }
        auto start = std::chrono::steady_clock::now();
        for (std::uint32_t i = 0; i < r.calls; ++i) {
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(call_ms()));
            call(r.sets[i], function == "add_one");
        }
        std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        a.event_ms = a.host_ms = kind_ == "lies" ? took.count() / 10 : took.count();
    }

    double call_ms() const
    {
        if (kind_ == "takes a minute") return 60000;
        return kind_ == "naive" || kind_ == "slow" || kind_ == "lies" ? naive_ms : 1;
    }

    // Writes no findings, and counters in which naive's loads are strided.
    void report(std::uint64_t offset)
    {
        std::string none = R"({"requests":0,"sectors":0,"ideal_sectors":0,"bytes":0})";
        std::string loads = R"({"requests":4,"ideal_sectors":16,"bytes":512,"sectors":)";
        loads += kind_ == "naive" ? "128}" : "16}";
        std::string shared = R"({"wavefronts":0,"ideal_wavefronts":0})";
        std::string text =
            R"({"kernels":[{"kernel":"add","launches":1,"launches_by_kernels":0,"instructions_by_kernels":0,"blocks":1,"threads":128,"sectors_read":0,)"
            R"("parameter_bytes":0,"all_parameter_bytes":0,"busiest_block_instructions":0,"managed_pages":0,"managed_sectors":0,"multiplications_of":[],"sectors_written":0,"sites":[{"file":"stub.cu","line":4,"global_load":)" +
            loads + R"(,"global_store":)" + none + R"(,"local_load":)" + none +
            R"(,"local_store":)" + none + R"(,"shared_load":)" + shared + R"(,"shared_store":)" +
            shared + R"(,"global_atomics":0,"atomic_requests":0,"atomic_same_address":0,)" +
            R"("texture_bytes":0,"multiplications":0,"divisions":0,"exact_divisions":0,)" +
            R"("double_operations":0,)" +
            R"("exact_square_roots":0,"warp_instructions":0,"thread_instructions":0,)" +
            R"("texture_requests":0,"texture_sectors":0,"printed_bytes":0,)" +
            R"("global_atomic_requests":0,"global_atomic_sectors":0,"constant_requests":0,)" +
            R"("constant_addresses":0,"host_sectors":0,"barriers":0}]}],)" +
            R"("transfers":{"host_to_device":0,"device_to_host":0,"device_to_device":0,"in_pieces":0,"memset":0,"from_pageable":0,"staged":0,)" +
            R"("managed":0,"fill_values":0,"commands":0,"managed_copies":0,"sent":[],"uploaded":[]}})";
        if (kind_ == "garbled") text = text.substr(0, 100);
        std::uint64_t findings = kind_ == "misuses a vote", length = text.size();
        std::memcpy(out_ + offset, &findings, 8);
        if (findings) return find_a_vote(offset + 8);
        std::memcpy(out_ + offset + 8, &length, 8);
        std::memcpy(out_ + offset + 16, text.data(), length);
    }

    void find_a_vote(std::uint64_t offset)
    {
        simulator_finding f = {};
        f.kind = static_cast<std::uint8_t>(simulator::finding_kind::barrier);
        std::strcpy(f.kernel, "add");
        std::strcpy(f.file, "/home/me/stub.cu");
        std::strcpy(f.where, "a vote");
        std::strcpy(f.detail, "20 threads wait at it");
        f.line = 4;
        f.threads = 20;
        std::memcpy(out_ + offset, &f, sizeof f);
    }

    // Imitates a device of 10 GB/s and 10 GFMA/s.
    void measure(std::string_view function, std::uint32_t calls, reply &a) const
    {
        double ms = 0.001;
        if (function == "yardstick_copy") ms = 2 * 2 / 10.0; // reads and writes 2 MiB
        if (function == "yardstick_fma") ms = yardstick::multiply_adds(16, 512) / 1e7;
        a.event_ms = a.host_ms = calls * ms;
    }

    void call(std::uint32_t number, bool apart)
    {
        if (kind_ == "writes nothing") return;
        const int *from = reinterpret_cast<int *>(payload(number, 0));
        bool marked = from[0] == marked_form;
        if (marked ? kind_ == "naive" : kind_ == "takes its own form") return;
        int *to = reinterpret_cast<int *>(payload(number, apart));
        int n = 0;
        std::memcpy(&n, payload(number, 1 + apart), sizeof n);
        if (kind_ == "replays" && kept_.count(number)) {
            std::copy(kept_[number].begin(), kept_[number].end(), to);
            return;
        }
        std::transform(from, from + n, to, [](int x) { return x + 1; });
        if (kind_ == "replays") kept_[number].assign(to, to + n);
        if (kind_ == "writes past the end") to[n] = 1;
        if (runs_ == 10 && kind_ == "spoils the first") to[0] ^= 1;
        if (runs_ == 10 && kind_ == "spoils the last") to[n - 1] ^= 1;
        if (runs_ == 10 && kind_ == "spoils any") to[std::random_device()() % unsigned(n)] ^= 1;
        if (kind_ == "goes wrong later" && runs_ == 10) to[7] = 0;
        if (kind_ == "right but once" && runs_ == 2) to[7] = 0;
    }

    std::string kind_;
    part part_ = part::all;
    std::byte *in_, *out_;
    int device_;
    std::map<std::uint32_t, set> sets_;
    std::map<std::uint32_t, std::vector<int>> kept_;
    int runs_ = 0;
};

std::byte *map(int fd, int protection)
{
    struct stat facts = {};
    if (fstat(fd, &facts) != 0) return nullptr;
    void *at =
        mmap(nullptr, static_cast<std::size_t>(facts.st_size), protection, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte *>(at);
}

int serve(const std::filesystem::path &program)
{
    std::byte *in = map(input_fd, PROT_READ), *out = map(output_fd, PROT_READ | PROT_WRITE);
    if (!in || !out) return 2;
    imitation w(program, in, out);
    request r;
    while (recv(socket_fd, &r, sizeof r, 0) == sizeof r) {
        reply a = w.handle(r);
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) break;
    }
    return 0;
}

// The benchmarked function is add_one, or the same in place.
constexpr int elements = 5000;

std::span<std::byte> renew(std::vector<int> &values, std::mt19937_64 &random)
{
    for (int i = 0; i < 16; ++i) values[100 + i] = static_cast<int>(random() % 1000000);
    return std::as_writable_bytes(std::span(values).subspan(100, 16));
}

class adding : public workload {
public:
    explicit adding(std::mt19937_64 &random, double bytes, bool mark = false,
                    argument_memory of_output = argument_memory::device)
        : in_(elements), out_(elements), bytes_(bytes), of_output_(of_output)
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
        if (mark) in_[0] = marked_form;
    }
    const char *function() const override { return "add_one"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one)>::arguments(in_, placed<output<int>>{out_, of_output_},
                                                    int(elements));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        std::vector<int> want(in_);
        for (int &x : want) ++x;
        expect_equal(out_, want);
    }
    double bytes() const override { return bytes_; }

protected:
    std::vector<int> in_;
    output<int> out_;

private:
    double bytes_;
    argument_memory of_output_;
};

// Uses new vectors in each round.
class adding_anew : public adding {
public:
    explicit adding_anew(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        in_ = std::vector<int>(in_);
        out_ = output<int>(elements);
        return adding::change(random);
    }
};

class adding_more : public adding {
public:
    explicit adding_more(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        in_.push_back(1);
        return adding::change(random);
    }
};

class silently_adding : public adding {
public:
    explicit silently_adding(std::mt19937_64 &random) : adding(random, 0) {}
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        adding::change(random);
        return {};
    }
};

// Lets `n` of the elements change; the others change only between rounds.
class adding_in_place : public workload {
public:
    explicit adding_in_place(std::mt19937_64 &random, int n = elements) : n_(n), in_(elements)
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
        data_ = changed_in_place(in_);
        data_.count = static_cast<std::size_t>(n);
    }
    const char *function() const override { return "add_one_in_place"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one_in_place)>::arguments(data_, n_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        renew(in_, random);
        in_.back() = static_cast<int>(random() % 1000000);
        data_.values = in_;
        std::span all(data_.values);
        return {std::as_writable_bytes(all.first(116)), std::as_writable_bytes(all.last(1))};
    }
    void check() override
    {
        for (int i = 0; i < elements; ++i)
            expect(data_[i] == in_[i] + (i < n_), verdict::WRONG_ANSWER,
                   "element " + std::to_string(i) + " is wrong");
    }

private:
    int n_;
    std::vector<int> in_;
    output<int> data_{0};
};

// So many elements that several cores copy and compare them.
class adding_many : public workload {
public:
    explicit adding_many(std::mt19937_64 &random) : in_((4 << 20) + 7), out_(in_.size())
    {
        for (int &x : in_) x = static_cast<int>(random() % 1000000);
    }
    const char *function() const override { return "add_one"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_one)>::arguments(in_, out_, int(in_.size()));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        expect(for_all(in_.size(), [this](std::size_t i) { return out_[i] == in_[i] + 1; }),
               verdict::WRONG_ANSWER, "an element of many is wrong");
    }

private:
    std::vector<int> in_;
    output<int> out_;
};

std::filesystem::path folder; // holds one link to this program per kind of worker

void race_against(const std::string &kind, const make_workload &make, double speedup = 3,
                  const make_workload &make_for_naive = {}, double naive_share = 1)
{
    restart_workers();
    options().worker = folder / kind;
    speed_gates gates;
    gates.naive_share = naive_share;
    gates.speedup = speedup;
    gates.too_slow = "try harder";
    race(make, gates, make_for_naive);
}

recorded_case recorded; // by "race: recorded"

// While one lives, cases record pairs. The destructor reads them.
class recording_of_pairs {
public:
    explicit recording_of_pairs(int pairs, const std::string &file = folder / "pairs.csv")
    {
        options().record_pairs = pairs;
        options().pairs_file = file;
    }
    ~recording_of_pairs()
    {
        if (std::ifstream file(options().pairs_file); file) recorded = read_recording(file);
        options().record_pairs = 0;
    }
    recording_of_pairs(const recording_of_pairs &) = delete;
};

make_workload moving(double bytes = 0)
{
    return [bytes](std::mt19937_64 &random) { return std::make_unique<adding>(random, bytes); };
}
template <class W> std::unique_ptr<workload> any(std::mt19937_64 &random)
{
    return std::make_unique<W>(random);
}
std::unique_ptr<workload> in_place(std::mt19937_64 &random)
{
    return std::make_unique<adding_in_place>(random);
}
std::unique_ptr<workload> half_in_place(std::mt19937_64 &random)
{
    return std::make_unique<adding_in_place>(random, elements / 2);
}
std::unique_ptr<workload> marked(std::mt19937_64 &random)
{
    return std::make_unique<adding>(random, 0, true);
}
std::unique_ptr<workload> to_pinned(std::mt19937_64 &random)
{
    return std::make_unique<adding>(random, 0, false, argument_memory::pinned);
}

} // namespace

// The same with a worker that claims to be a simulator.
void count_against(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    speed_gates gates;
    gates.speedup = 3;
    gates.counted = {used_by_loads(0.95), used_by_stores(0.95)};
    gates.counted[0].required.excellent = 1;
    race(moving(), gates);
}

SPEED_CASE("race: fast", 4, 4) { race_against("fast", moving()); }
SPEED_CASE("race: fast in place", 4, 4) { race_against("fast", in_place); }
SPEED_CASE("race: half in place", 4, 4) { race_against("fast", half_in_place); }
SPEED_CASE("race: two forms", 4, 4) { race_against("takes its own form", marked, 3, moving()); }
SPEED_CASE("race: one form for both", 4, 4) { race_against("takes its own form", moving()); }
SPEED_CASE("race: vectors made anew", 4, 4) { race_against("fast", any<adding_anew>); }
SPEED_CASE("race: more elements", 4, 4) { race_against("fast", any<adding_more>); }
SPEED_CASE("race: a silent change", 4, 4) { race_against("fast", any<silently_adding>); }
// The same where only gates calibrated for the device count, of which `kept` tells.
void race_calibrated(const std::string &kind, const char *folder_of_gates)
{
    options().gates_folder = folder / folder_of_gates;
    options().contract = "0123";
    struct restore {
        ~restore() { options().gates_folder.clear(); }
    } at_the_end;
    race_against(kind, moving());
}
SPEED_CASE("race: not calibrated, fast", 4, 4) { race_calibrated("fast", "none"); }
SPEED_CASE("race: not calibrated, slow", 4, 4) { race_calibrated("slow", "none"); }
SPEED_CASE("race: not calibrated, wrong", 4, 4) { race_calibrated("lies", "none"); }
SPEED_CASE("race: calibrated, slow", 4, 4) { race_calibrated("slow", "gates"); }
SPEED_CASE("race: calibrated, fast", 4, 4) { race_calibrated("fast", "gates"); }
SPEED_CASE("race: on a shared device", 4, 4)
{
    std::ofstream(folder / "nvml") << "name an imitation\nmig\n";
    setenv("MOCK_NVML", (folder / "nvml").c_str(), 1);
    struct restore {
        ~restore() { unsetenv("MOCK_NVML"); }
    } at_the_end;
    race_against("slow", moving());
}
SPEED_CASE("race: slow", 4, 4) { race_against("slow", moving()); }
// Naive has a thousandth of the work, so its time implies 8 s for all of it.
SPEED_CASE("race: takes a minute", 4, 4) { race_against("takes a minute", moving(), 3, {}, 0.001); }
SPEED_CASE("race: lies", 4, 4) { race_against("lies", moving()); }
SPEED_CASE("race: replays", 4, 4) { race_against("replays", moving()); }
SPEED_CASE("race: replays in place", 4, 4) { race_against("replays", in_place); }
SPEED_CASE("race: writes nothing", 4, 4) { race_against("writes nothing", moving()); }
SPEED_CASE("race: to pinned memory", 4, 4) { race_against("fast", to_pinned); }
SPEED_CASE("race: nothing to pinned memory", 4, 4) { race_against("writes nothing", to_pinned); }
SPEED_CASE("race: writes past the end", 4, 4) { race_against("writes past the end", moving()); }
SPEED_CASE("race: goes wrong later", 4, 4) { race_against("goes wrong later", moving()); }
SPEED_CASE("race: spoils the first", 4, 4) { race_against("spoils the first", any<adding_many>); }
SPEED_CASE("race: spoils the last", 4, 4) { race_against("spoils the last", any<adding_many>); }
SPEED_CASE("race: spoils any", 4, 4) { race_against("spoils any", any<adding_many>); }
SPEED_CASE("race: many", 4, 4) { race_against("fast", any<adding_many>, 0.1); }
SPEED_CASE("race: spoils the rest", 4, 4) { race_against("writes past the end", half_in_place); }
SPEED_CASE("race: crashes", 4, 4) { race_against("crashes", moving()); }
SPEED_CASE("race: loses memory", 4, 4) { race_against("loses memory", moving()); }
SPEED_CASE("race: no memory", 4, 4) { race_against("says there is no memory", moving()); }
SPEED_CASE("race: all memory", 4, 4) { race_against("takes all memory", moving()); }
SPEED_CASE("race: recorded", 4, 4)
{
    recording_of_pairs here(65);
    race_against("fast", moving());
}
SPEED_CASE("race: recorded nowhere", 4, 4)
{
    recording_of_pairs here(1, "/no/such/folder/pairs.csv");
    race_against("fast", moving());
}
// A call takes 1 ms but should move 20 MB on a device of 10 GB/s.
SPEED_CASE("race: implausible", 4, 4) { race_against("fast", moving(20e6)); }
// Two benchmarks in the same workers: the first must not affect the second.
SPEED_CASE("race: twice", 4, 4)
{
    race_against("fast", moving());
    speed_gates gates;
    gates.speedup = 3;
    race(moving(), gates);
}

// Asking for naive's cost must not affect the benchmark.
SPEED_CASE("race: naive's cost", 4, 4)
{
    double ms = naive_cost(moving());
    expect(ms >= naive_ms && ms < 20 * naive_ms, verdict::WRONG_ANSWER, std::to_string(ms));
    race_against("fast", moving());
}

namespace {

void call_apart(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    output<int> out(3000);
    CALL(add_one, std::vector<int>(3000, 41), out, 3000);
    expect_equal(out, std::vector<int>(3000, 42));
}

void call_in_place(const std::string &kind)
{
    restart_workers();
    options().worker = folder / kind;
    output<int> data = changed_in_place(std::vector<int>(3000, 41));
    CALL(add_one_in_place, data, 3000);
    expect_equal(data, std::vector<int>(3000, 42));
}

void judge_where_reading_is_explained(const std::vector<float> &got)
{
    reading_an_output_means("It was read.", "Only write it.", "another");
    output<float> out(got.size());
    out.values = got;
    std::vector<float> zero(got.size());
    expect_equal(out, zero, {}, {{"It is as before.", "Write it.", [=] {
                                      return std::vector<float>(zero.size(), NAN);
                                  }}});
}

} // namespace

// The last three of eight elements are 9, which three mistakes explain.
CORRECTNESS_CASE("call: explained by several", 1)
{
    output<int> out(8);
    out.values = {1, 2, 3, 4, 5, 9, 9, 9};
    auto made = [](const std::vector<int> &values) { return [=] { return values; }; };
    expect_equal(out, {1, 2, 3, 4, 5, 6, 7, 8}, {},
                 {{"All are 9.", "", made({9, 9, 9, 9, 9, 9, 9, 9}), true},
                  {"Some are 9.", "", made({9, 2, 3, 4, 5, 9, 9, 9})},
                  {"The last three are 9.", "", made({1, 2, 3, 4, 5, 9, 9, 9})}});
}
CORRECTNESS_CASE("call: explained in part", 1)
{
    output<int> out(4);
    out.values = {1, 2, 9, 9};
    auto made = [](const std::vector<int> &values) { return [=] { return values; }; };
    expect_equal(
        out, {1, 2, 3, 4}, {},
        {{"All are 9.", "", made({9, 9, 9, 9}), true}, {"They are 9.", "", made({9, 9, 9, 9})}});
}
// Two of eighteen elements have a counterpart 16 places on, and equal it by chance.
CORRECTNESS_CASE("call: moved, by chance", 1)
{
    output<int> out(18);
    std::vector<int> want;
    for (int i = 0; i < 18; ++i) want.push_back(i), out.values[std::size_t(i)] = 50 + i * i;
    out.values[0] = 16, out.values[1] = 17;
    expect_equal(out, want);
}

CORRECTNESS_CASE("call: fast", 1) { call_apart("fast"); }
CORRECTNESS_CASE("call: fast in place", 1) { call_in_place("fast"); }
CORRECTNESS_CASE("call: right but once", 1) { call_apart("right but once"); }
CORRECTNESS_CASE("call: right but once, in place", 1) { call_in_place("right but once"); }

CORRECTNESS_CASE("call: one too many", 1) { call_apart("writes past the end"); }
CORRECTNESS_CASE("call: one too many, with a hint of the lab's", 1)
{
    hint_past_the_end("It has n elements.");
    call_in_place("writes past the end");
}
CORRECTNESS_CASE("call: misuses a vote", 1) { call_apart("misuses a vote"); }
CORRECTNESS_CASE("call: all NaN", 1) { judge_where_reading_is_explained({NAN, NAN, NAN}); }
CORRECTNESS_CASE("call: some NaN", 1) { judge_where_reading_is_explained({NAN, 0, NAN}); }
CORRECTNESS_CASE("call: NaN and wrong", 1) { judge_where_reading_is_explained({NAN, 1, NAN}); }

SPEED_CASE("count: fast", 4, 1) { count_against("fast"); }
SPEED_CASE("count: naive", 4, 1) { count_against("naive"); }
SPEED_CASE("count: garbled", 4, 1) { count_against("garbled"); }
SPEED_CASE("count: writes nothing", 4, 1) { count_against("writes nothing"); }

namespace {

const case_record &record(const std::string &name)
{
    auto at = std::find_if(records().begin(), records().end(),
                           [&](const case_record &r) { return r.test == name && r.started; });
    REQUIRE(at != records().end());
    return *at;
}

void check_verdict(const std::string &name, verdict expected, const std::string &words = {})
{
    const case_record &r = record(name);
    CAPTURE(name);
    CAPTURE(r.message);
    CHECK(std::string(grading::name(r.result)) == std::string(grading::name(expected)));
    CHECK(r.message.find(words) != std::string::npos);
}

} // namespace

TEST_CASE("verdict: a fast submission passes, in place or not, and leaves its figures")
{
    for (const char *name : {"race: fast", "race: fast in place", "race: half in place",
                             "race: two forms", "race: twice", "race: to pinned memory",
                             "race: naive's cost", "race: vectors made anew"}) {
        check_verdict(name, verdict::PASS);
        const case_record &r = record(name);
        REQUIRE(r.speed);
        CHECK(r.points == 4);
        CHECK(r.speed->pairs >= shown_pairs);
        CHECK(r.speed->median > 3);
        CHECK(r.speed->ms >= 1);
        CHECK(r.speed->naive_ms >= naive_ms);
    }
}

TEST_CASE("verdict: none is given while pairs are recorded, as the clocks say")
{
    check_verdict("race: recorded", verdict::SKIPPED, "65 pairs were recorded");
    CHECK(recorded.about["case"] == "race: recorded, timed");
    CHECK(recorded.about["gpu"] == "an imitation");
    CHECK(recorded.about["function"] == "add_one");
    CHECK(recorded.gates.speedup == 3);
    REQUIRE(recorded.pairs.size() == 65);
    for (const recorded_pair &p : recorded.pairs) {
        CHECK(p.naive.worker_per_call() >= naive_ms);
        CHECK(p.submission.worker_per_call() >= 1);
        CHECK(p.submission.parent_ms > 0);
        CHECK(p.copy_rate > 0);
        CHECK(p.before.fma_rate > 0);
    }
    check_verdict("race: recorded nowhere", verdict::INFRA_ERROR, "cannot write /no/such/folder");
}

TEST_CASE(
    "verdict: a gate that is not calibrated for the device leaves the points open, timed or not")
{
    for (const char *name : {"race: not calibrated, fast", "race: not calibrated, slow"}) {
        check_verdict(name, verdict::SKIPPED, "not calibrated for an imitation");
        CHECK(record(name).open_points() == 4);
        REQUIRE(record(name).speed);
        CHECK(record(name).speed->pairs == shown_pairs);
        CHECK(record(name).speed->median > 0);
    }
    check_verdict("race: not calibrated, wrong", record("race: lies").result);
    CHECK_FALSE(record("race: lies").skipped());
}

TEST_CASE("verdict: a gate that is kept for the device is judged")
{
    check_verdict("race: calibrated, slow", verdict::TOO_SLOW, "at least 3 times is required");
    check_verdict("race: calibrated, fast", verdict::PASS);
}

TEST_CASE("verdict: a device that is shared judges no time")
{
    check_verdict("race: on a shared device", verdict::INFRA_ERROR, "MIG mode");
}

TEST_CASE("verdict: what lies in pinned memory must be written too")
{
    check_verdict("race: nothing to pinned memory", verdict::NOT_WRITTEN);
}

TEST_CASE("verdict: a workload that changes what no worker is told of is the lab's fault")
{
    check_verdict("race: more elements", verdict::INFRA_ERROR, "changed a size");
    check_verdict("race: a silent change", verdict::INFRA_ERROR, "changed `in` and did not say so");
}

TEST_CASE("verdict: a slow one does not")
{
    check_verdict("race: slow", verdict::TOO_SLOW, "at least 3 times");
    CHECK(record("race: slow").hint == "try harder");
    CHECK(record("race: slow").points == 0);
}

TEST_CASE("verdict: nor does one that does not end in time, and what it was to reach is known")
{
    check_verdict("race: takes a minute", verdict::TOO_SLOW, "did not finish in 10 s");
    CHECK(record("race: takes a minute").hint == "try harder");
    nlohmann::json cases = nlohmann::json::parse(result_json())["labs"][0]["cases"];
    auto c = std::find_if(cases.begin(), cases.end(), [](const auto &one) {
        return one["name"] == "race: takes a minute, timed";
    });
    REQUIRE(c != cases.end());
    CHECK((*c)["speedup"]["required"] == 3);
    CHECK((*c)["speedup"]["median"].is_null());
    CHECK((*c)["measured"]["naive_ms"] >= 1000 * naive_ms);
}

TEST_CASE("verdict: naive's form of the arguments is not the submission's")
{
    check_verdict("race: one form for both", verdict::NOT_WRITTEN);
}

TEST_CASE("verdict: clocks and rooflines")
{
    check_verdict("race: lies", verdict::CLOCK_MISMATCH);
    check_verdict("race: implausible", verdict::IMPLAUSIBLE, "copy bandwidth");
}

TEST_CASE("verdict: every timed output is verified")
{
    check_verdict("race: replays", verdict::WRONG_ANSWER);
    check_verdict("race: replays in place", verdict::WRONG_ANSWER);
    check_verdict("race: goes wrong later", verdict::WRONG_ANSWER, "7");
    for (const char *name : {"race: spoils the first", "race: spoils the last", "race: spoils any"})
        check_verdict(name, verdict::WRONG_ANSWER, "an element of many");
    check_verdict("race: many", verdict::PASS);
    check_verdict("race: spoils the rest", verdict::WRONG_ANSWER, "leaves the rest as it was");
    check_verdict("race: writes nothing", verdict::NOT_WRITTEN, "add_one");
    check_verdict("race: writes past the end", verdict::OUT_OF_BOUNDS, "`out`");
}

TEST_CASE("verdict: a second, equal call must be right too, in place or not")
{
    for (const char *name : {"call: fast", "call: fast in place"})
        check_verdict(name, verdict::PASS);
    for (const char *name : {"call: right but once", "call: right but once, in place"})
        check_verdict(name, verdict::NONDETERMINISTIC, "[7]: expected 42, got 0");
}

TEST_CASE("verdict: one element past the end is told from a missing guard")
{
    check_verdict("call: one too many", verdict::OUT_OF_BOUNDS, "first write is at index 3000");
    CHECK(record("call: one too many").hint.find("one place too late") != std::string::npos);
    CHECK(record("call: one too many, with a hint of the lab's").hint == "It has n elements.");
}

TEST_CASE("verdict: what the simulator finds is a sentence")
{
    check_verdict("call: misuses a vote", verdict::BARRIER_MISUSE,
                  "Kernel add misused a vote at stub.cu:4. 20 threads wait at it. Block (0, 0, 0), "
                  "thread (0, 0, 0) and 19 more.");
}

TEST_CASE("verdict: an output that is NaN all over was read; the failure belongs to another TODO")
{
    check_verdict("call: all NaN", verdict::WRONG_ANSWER, "It is NaN, no number. It was read.");
    CHECK(record("call: all NaN").about == "another");
    check_verdict("call: some NaN", verdict::WRONG_ANSWER, "no number. It is as before.");
    CHECK(record("call: some NaN").about.empty());
    check_verdict("call: NaN and wrong", verdict::WRONG_ANSWER, "got nan. It is NaN, no number.");
    CHECK(record("call: NaN and wrong").hint.find("Where does the NaN come from") == 0);
}

TEST_CASE("verdict: a mistake that explains every element is said before one that does not")
{
    check_verdict("call: explained by several", verdict::WRONG_ANSWER, "The last three are 9.");
    check_verdict("call: explained in part", verdict::WRONG_ANSWER, "They are 9.");
}

TEST_CASE("verdict: what a few elements show by chance is not said of all")
{
    check_verdict("call: moved, by chance", verdict::WRONG_ANSWER, "18 of 18 elements");
    CHECK(record("call: moved, by chance").message.find("holds what belongs") == std::string::npos);
}

TEST_CASE("verdict: a crash in a timed run is a crash")
{
    check_verdict("race: crashes", verdict::CRASH, "timing add_one");
}

TEST_CASE("verdict: where devices send to each other, memory may have been freed too early")
{
    check_verdict("race: loses memory", verdict::CUDA_ERROR, "cudaErrorLaunchFailure (719)");
    const std::string hint = record("race: loses memory").hint;
    CHECK(hint.find("it names the access") != hint.npos);
    CHECK(hint.find("cudaFree need not wait") != hint.npos);
}

TEST_CASE("verdict: that the device has no memory is not the submission's to say or to bring about")
{
    check_verdict("race: no memory", verdict::RESOURCE_LIMIT, "and naive's has it");
    check_verdict("race: all memory", verdict::RESOURCE_LIMIT, "held most of the device's memory");
}

TEST_CASE("verdict: on the simulator counters decide, and nothing is called a time")
{
    check_verdict("count: fast", verdict::PASS);
    check_verdict("count: naive", verdict::TOO_SLOW, "12.5 %, at least 95 % is required");
    check_verdict("count: garbled", verdict::PROTOCOL_ERROR, "cannot be read");
    check_verdict("count: writes nothing", verdict::NOT_WRITTEN);
    REQUIRE(record("count: fast").speed);
    REQUIRE(record("count: naive").speed);
    const speed_result &fast = *record("count: fast").speed, &naive = *record("count: naive").speed;
    CHECK(fast.counters.at("sector bytes used by loads") == 1);
    CHECK(fast.naive_counters.at("sector bytes used by loads") == 0.125);
    CHECK(fast.reached == 2);
    CHECK(fast.offered == 2);
    CHECK(naive.reached == 0);
    CHECK(std::isnan(fast.median));
    CHECK(std::isnan(fast.ms));
    CHECK(fast.pairs == 0);
}

// Writes a calibration of the imitated device that keeps the cases' gates.
static void keep_gates_of(std::initializer_list<const char *> cases)
{
    calibrated_case c;
    c.required = 3;
    c.naive = {"TOO_SLOW", 1, 0.9, 1.1};
    c.solution = {"PASS", 8, 7.9, 8.1, 0, 1};
    calibration all{"an imitation", "9.0", {}};
    calibrated_lab &l = all.labs[lab_name()];
    l.contract = "0123";
    for (const char *name : cases) l.cases[name] = c;
    std::filesystem::create_directory(folder / "gates");
    std::ofstream(calibration_file((folder / "gates").string(), all.model))
        << calibration_text(all);
}

int main(int count, char **arguments)
{
    std::filesystem::path self = arguments[0];
    int type = 0;
    socklen_t length = sizeof type;
    if (count == 1 && getsockopt(socket_fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
        type == SOCK_SEQPACKET)
        return serve(self);

    char name[] = "/tmp/race-XXXXXX";
    if (!mkdtemp(name)) return 2;
    folder = name;
    for (const char *kind : {"naive",
                             "spoils the first",
                             "spoils the last",
                             "spoils any",
                             "fast",
                             "slow",
                             "lies",
                             "replays",
                             "writes nothing",
                             "writes past the end",
                             "goes wrong later",
                             "crashes",
                             "garbled",
                             "right but once",
                             "misuses a vote",
                             "takes its own form",
                             "takes a minute",
                             "loses memory",
                             "says there is no memory",
                             "takes all memory",
                             "device"})
        std::filesystem::create_symlink(std::filesystem::canonical("/proc/self/exe"),
                                        folder / kind);
    options().simulated = false;
    options().sandbox = false;
    options().naive = folder / "naive";
    options().device_program = folder / "device";
    options().seed = 1;
    keep_gates_of({"race: calibrated, slow, timed", "race: calibrated, fast, timed"});

    for (const char *which : {"race:*", "count:*", "call:*"}) {
        options().simulated = which[0] == 'c';
        doctest::Context races;
        races.setOption("reporters", "records");
        races.setOption("order-by", "file");
        races.addFilter("test-case", which);
        races.run(); // the tests check these failures
    }
    restart_workers();
    std::filesystem::remove_all(folder);

    doctest::Context tests(count, arguments);
    tests.setOption("reporters", "console");
    tests.addFilter("test-case", "verdict:*");
    return tests.run();
}
