// Plays the workers of the clock's tests.
#include "imitation.hpp"

#include "process/protocol.hpp"
#include "process/worker_process.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/runtime/harness.h"
#include "worker/yardstick_work.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace grading;

namespace {

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
        f.memory_bytes = std::uint64_t{64} << 30;
        f.memory_free = taken() ? 0 : std::uint64_t{60} << 30;
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
        for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
            if (!s.descriptors[i].output) continue;
            std::byte *to = payload(r.set, i);
            for (std::size_t at = 0; at + 4 <= s.descriptors[i].bytes; at += 4)
                std::memcpy(to + at, &r.pattern, 4);
        }
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
            shared + R"(,"shared_atomic":)" + shared +
            R"(,"global_atomics":0,"atomic_requests":0,"atomic_same_address":0,)" +
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
        if (kind_ == "writes nothing" || sets_.at(number).descriptors.empty()) return;
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

} // namespace

int play_worker(const std::filesystem::path &program)
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

void link_workers(const std::filesystem::path &program, const std::filesystem::path &folder)
{
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
        std::filesystem::create_symlink(program, folder / kind);
}
