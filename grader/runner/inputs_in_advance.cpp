// Makes the inputs of timed cases on a thread, in the order of the cases.
#include "inputs_in_advance.hpp"

#include "api/inputs.hpp"
#include "argument_images.hpp"
#include "bytes.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "in_parallel.hpp"
#include "process/protocol.hpp"
#include "resources.hpp"
#include "workers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace grading {

namespace {

struct rehearsal_over {};
wanted_sets *rehearsed = nullptr; // of the case that is being rehearsed

std::uint64_t bytes_of_arguments(workload &work)
{
    std::uint64_t bytes = 0;
    for (const argument &a : work.arguments()) bytes += a.wire.bytes;
    return bytes;
}

// Returns how many sets like this one a run of `at_bandwidth_ms` takes, as far as `max_bytes` hold
// them.
std::size_t sets_at_bandwidth(workload &work, const wanted_sets &wanted)
{
    const double bytes_per_ms = static_cast<double>(device().peak_bytes_per_s) / 1e3;
    const std::uint64_t each = bytes_of_arguments(work);
    if (work.bytes() <= 0 || each == 0) return 0;
    const double calls = std::ceil(wanted.at_bandwidth_ms * bytes_per_ms / work.bytes());
    return static_cast<std::size_t>(
        std::min({calls, static_cast<double>(wanted.max_bytes / each), double{max_calls}}));
}

// The needs of a case, and its seed.
struct rehearsal {
    wanted_sets wanted;
    std::uint64_t seed = 0;
};

// Returns nothing if the case does not come as far as its race().
std::optional<rehearsal> rehearse(std::size_t record)
{
    wanted_sets wanted;
    const case_record before = records()[record];
    begin_case(before.test);
    const std::uint64_t seed = case_seed();
    {
        const ahead_of_case no_workers;
        rehearsed = &wanted;
        try {
            before.body();
        } catch (const rehearsal_over &) {
        } catch (...) { // the case goes the same way in its turn, and tells where that led
            wanted.make = {};
        }
        rehearsed = nullptr;
    }
    current_case() = before;
    if (!wanted.make) return std::nullopt;
    return rehearsal{wanted, seed};
}

} // namespace

bool must_guess() { return rehearsed || !(simulated() || submission_is_built()); }

std::unique_ptr<workload> make_numbered(const make_workload &make, std::uint64_t seed,
                                        std::size_t number)
{
    std::mt19937_64 random(seed + number);
    return make(random);
}

void end_rehearsal(const wanted_sets &wanted)
{
    if (!rehearsed) return;
    *rehearsed = wanted;
    throw rehearsal_over{};
}

class inputs_in_advance::maker {
public:
    explicit maker(const std::vector<case_group> &timed)
    {
        for (const case_group &group : timed)
            for (std::size_t i : group)
                if (std::optional<rehearsal> r = rehearse(i))
                    jobs_.push_back({records()[i].name, std::move(*r), {}, {}});
    }

    made_sets take(const std::string &form)
    {
        std::unique_lock lock(mutex_);
        const auto own = std::ranges::find(jobs_, current_case().name, &job::name);
        made_sets made;
        if (own != jobs_.end()) {
            auto is_over = [&] { return own->how != progress::begun; };
            while (!is_over() && make_pages(lock, own->what.wanted.max_bytes)) continue;
            done_.wait(lock, is_over);
            made = std::exchange(own->made, {});
            own->how = progress::done;
            if (own->what.wanted.form != form) made = {};
        }
        return made;
    }

    void begin()
    {
        if (!thread_.joinable() && !over_)
            thread_ = std::jthread([this](const std::stop_token &stop) { make_all(stop); });
    }

    void stop()
    {
        over_ = true;
        if (!thread_.joinable()) return;
        thread_.request_stop();
        thread_.join();
    }

private:
    enum class progress { waits, begun, done };
    struct job {
        std::string name;
        rehearsal what;
        progress how = progress::waits;
        made_sets made;
    };

    void make_all(const std::stop_token &stop)
    {
        nice(10); // this thread and those it starts: the compiler and the simulator come first
        const std::uint64_t min_memory = available_memory() / 2;
        for (job &j : jobs_) {
            if (stop.stop_requested() || available_memory() < min_memory) return;
            {
                const std::lock_guard lock(mutex_);
                if (j.how != progress::waits) continue;
                j.how = progress::begun;
            }
            made_sets made = make(j.what, stop);
            const std::uint64_t bytes = bytes_of(made);
            {
                const std::lock_guard lock(mutex_);
                j.made = std::move(made);
                j.how = progress::done;
                done_.notify_all();
            }
            if (!stop.stop_requested()) populate_to(bytes);
        }
    }

    // A case will copy its sets to the input memory. While it waits for them it makes pages there,
    // a few with each call, in all at most `enough` bytes, since nobody knows yet how many it
    // needs. Returns false if there are enough, or no thread can be started.
    bool make_pages(std::unique_lock<std::mutex> &lock, std::uint64_t enough)
    {
        constexpr std::uint64_t stretch = std::uint64_t{128} << 20;
        if (populated_ >= enough) return false;
        const std::uint64_t end = std::min(populated_ + stretch, enough);
        lock.unlock();
        bool made = true;
        try {
            std::async(std::launch::async, [this, end] {
                nice(10); // as in make_all()
                populate_to(end);
            }).get();
        } catch (const std::system_error &) {
            made = false;
        }
        lock.lock();
        return made;
    }
    void populate_to(std::uint64_t end)
    {
        std::uint64_t from = 0;
        {
            const std::lock_guard lock(mutex_);
            from = std::exchange(populated_, std::max(populated_, end));
        }
        if (end > from) populate(inputs(), image_start + from, end - from);
    }

    static std::uint64_t bytes_of(const made_sets &made)
    {
        std::uint64_t bytes = 0;
        for (const workloads *sets : {&made.submission, &made.naive})
            for (const std::unique_ptr<workload> &work : *sets) bytes += bytes_of_arguments(*work);
        return bytes;
    }

    // Returns none if that fails: then it fails again in its case, which tells why.
    static made_sets make(const rehearsal &what, const std::stop_token &stop)
    {
        const wanted_sets &wanted = what.wanted;
        made_sets all;
        // Makes sets until there are so many, and naive's.
        auto add = [&](std::size_t count) {
            if (stop.stop_requested()) return;
            const std::size_t from = all.submission.size(), to = std::max(from, count);
            all.submission.resize(to);
            const bool naive_lacks = wanted.make_for_naive && all.naive.empty();
            if (naive_lacks) all.naive.resize(1);
            in_parallel(to - from + naive_lacks, [&](std::size_t i) {
                const ahead_of_case no_workers;
                if (from + i < to)
                    all.submission[from + i] = make_numbered(wanted.make, what.seed, from + i + 1);
                else
                    all.naive[0] = make_numbered(wanted.make_for_naive, what.seed, 1);
            });
        };
        try {
            add(wanted.min_count);
            if (!all.submission.empty()) add(sets_at_bandwidth(*all.submission[0], wanted));
        } catch (...) {
            return {};
        }
        return all;
    }

    std::list<job> jobs_;
    std::mutex mutex_; // for `how`, `made` and `populated_`
    std::condition_variable done_;
    bool over_ = false;
    std::uint64_t populated_ = 0; // bytes with pages in the input memory, from the first image on
    std::jthread thread_;
};

inputs_in_advance::maker *inputs_in_advance::only_ = nullptr;

inputs_in_advance::inputs_in_advance(const std::vector<case_group> &timed)
    : maker_(std::make_unique<maker>(timed))
{
    only_ = maker_.get();
}

inputs_in_advance::~inputs_in_advance()
{
    maker_->stop();
    only_ = nullptr;
}

void inputs_in_advance::begin()
{
    if (only_) only_->begin();
}

inputs_in_advance::made_sets inputs_in_advance::take(const std::string &form)
{
    return only_ ? only_->take(form) : made_sets();
}

void inputs_in_advance::stop()
{
    if (only_) only_->stop();
}

} // namespace grading
