// Grades lab 12, multi GPU.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
using floats = std::vector<float>;
using doubles = std::vector<double>;
using bytes = std::vector<unsigned char>;
using pairs = std::vector<std::pair<int, int>>;

// Members take part whether or not each has a GPU of its own.
static const int few_members[] = {1, 2, 3, 4, 5, 7};

// No member has access to another's memory.
static void close_all_peers()
{
    pairs all;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            if (i != j) all.push_back({i, j});
    close_peers(all);
}

// Of four members, neighbours reach each other, and those opposite do not.
static const pairs across = {{0, 2}, {2, 0}, {1, 3}, {3, 1}};

static void try_peer_table(int members, const pairs &closed = {})
{
    const int devices = grading::device().devices;
    std::vector<int> want;
    for (int i = 0; i < members; ++i)
        for (int j = 0; j < members; ++j) {
            int from = i % devices, to = j % devices;
            bool open = !simulated() || std::find(closed.begin(), closed.end(),
                                                  std::pair(from, to)) == closed.end();
            want.push_back(from == to || (open && (device().peers[from] >> to & 1) != 0));
        }
    output<int> out(want.size());
    CALL(peer_table, host(out), members);
    auto table = [&](auto entry) {
        return [&, entry] {
            std::vector<int> all;
            for (int i = 0; i < members; ++i)
                for (int j = 0; j < members; ++j) all.push_back(entry(i, j));
            return all;
        };
    };
    auto at = [&want, members](int i, int j) { return want[std::size_t(i * members + j)]; };
    expect_equal(
        out, want, {std::size_t(members), std::size_t(members)},
        {{"Members were taken to have no access to memory of their own device.",
          "cudaDeviceCanAccessPeer is for two different devices; a device always has access to its "
          "own memory.",
          table([=](int i, int j) { return i % devices == j % devices ? 0 : at(i, j); })},
         {"Rows and columns have changed places.",
          "Entry [i * devices + j] says whether i reaches j: i is the first device in the call.",
          table([=](int i, int j) { return at(j, i); })}});
}

// All buffers of a call, one after the other.
static floats buffers_of(int members, int n)
{
    return random_floats(std::size_t(members) * std::size_t(n));
}

static auto part(floats &all, int n, int member)
{
    return std::span(all).subspan(std::size_t(member) * std::size_t(n), std::size_t(n));
}

static std::vector<misconception<float>> wrong_broadcasts(const floats &before, int members, int n)
{
    // For each buffer, the one whose contents it has.
    auto holding = [before, members, n](auto whose) {
        return [before, members, n, whose] {
            floats all = before, from = before;
            for (int k = 0; k < members; ++k) {
                auto source = part(from, n, whose(k));
                std::copy(source.begin(), source.end(), part(all, n, k).begin());
            }
            return all;
        };
    };
    return {
        {"Only the second buffer was written.",
         "Every member that has received the data must send it on.",
         holding([](int k) { return k == 1 ? 0 : k; })},
        {"Each buffer has the original contents of the one before it.",
         "The data were sent on before they had arrived: let the sending stream wait for an event "
         "of the stream that delivers them.",
         holding([](int k) { return std::max(k - 1, 0); })},
    };
}

static void expect_changed(const char *function, const floats &got, const floats &before,
                           const floats &want)
{
    expect(want == before || got != before, verdict::NOT_WRITTEN,
           std::string(function) + " returned, and no buffer has changed.",
           "Is anything copied from one device to another?");
}

static floats broadcast_of(const floats &before, int members, int n)
{
    floats all = before;
    for (int k = 1; k < members; ++k)
        std::copy(before.begin(), before.begin() + n, part(all, n, k).begin());
    return all;
}

// Returns how many last elements of each buffer are unchanged, if they alone are, and they are
// fewer than the members or pieces could leave over. 0: something else is wrong.
static int left_over(const floats &got, const floats &before, const floats &want, int n)
{
    int first = n;
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != want[i]) first = std::min(first, int(i % std::size_t(n)));
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != (int(i % std::size_t(n)) < first ? want[i] : before[i])) return 0;
    return 2 * first > n ? n - first : 0;
}

static misconception<float> not_divided(const output<float> &got, const floats &before,
                                        const floats &want, int n)
{
    const int rest = left_over(got.values, before, want, n);
    return {
        "In each buffer the last " + std::to_string(rest) + " of " + std::to_string(n) +
            " elements are unchanged.",
        "n is no multiple of the number of pieces or of members: the last piece must extend to n.",
        [&got, rest] { return rest > 0 ? got.values : floats(); }};
}

static void try_broadcast(int members, int n)
{
    floats before = buffers_of(members, n);
    auto all = changed_in_place(before);
    host_may_work(); // naive's way; a gate counts what crosses the host's link
    CALL(broadcast, per_device(all, members), n, members);
    floats want = broadcast_of(before, members, n);
    expect_changed("broadcast", all.values, before, want);
    auto known = wrong_broadcasts(before, members, n);
    known.push_back(not_divided(all, before, want, n));
    expect_equal(all, want, {}, known);
}

// The stub's ring: each step, every member gets a part from the neighbour `by` places before it,
// what that one had before the step, and adds it, or takes it over from step `complete` on.
static floats ring(const floats &before, int members, int n, int by, int steps, int complete)
{
    auto first_of = [&](int part) { return int((long long)n * part / members); };
    floats all = before;
    for (int step = 0; step < steps; ++step) {
        const floats then = all;
        for (int k = 0; k < members; ++k) {
            const int from = (k + members - by) % members;
            const int part = ((k - 1 - step) % members + members) % members;
            for (int i = first_of(part); i < first_of(part + 1); ++i) {
                const auto at = [&](int m) {
                    return std::size_t(m) * std::size_t(n) + std::size_t(i);
                };
                all[at(k)] = step < complete ? then[at(k)] + then[at(from)] : then[at(from)];
            }
        }
    }
    return all;
}

static std::vector<misconception<float>> wrong_sums(const floats &before, int members, int n)
{
    // The stub's ring ends with parts that travel on from the member before their first. Here each
    // one adds them to the sum that it has, of the members from the first up to itself.
    auto added_again = [before, members, n] {
        floats all;
        for (int k = 0; k < members; ++k)
            for (int i = 0, first = 0; i < n; ++i) {
                while ((long long)n * (first + 1) / members <= i) ++first;
                float sum = 0, value = 0;
                const int own = (k - first + members) % members;
                for (int m = 0; m < members; ++m) {
                    const int whose = (first + m) % members;
                    sum += before[std::size_t(whose) * std::size_t(n) + std::size_t(i)];
                    if (m <= own && own < members - 1) value += sum;
                }
                all.push_back(value + sum);
            }
        return all;
    };
    auto same_everywhere = [before, members, n](auto value) {
        return [=] {
            floats all;
            for (int k = 0; k < members; ++k)
                for (int i = 0; i < n; ++i) {
                    float sum = 0;
                    for (int m = 0; m < members; ++m)
                        sum +=
                            value(k, m) * before[std::size_t(m) * std::size_t(n) + std::size_t(i)];
                    all.push_back(sum);
                }
            return all;
        };
    };
    return {
        {"Only member 0 has the sums.",
         "The sums must be sent back to all members: that is the second half.",
         same_everywhere([](int k, int m) { return float(k == 0 || k == m); })},
        {"A complete part was added again.",
         "In the second half of the ring, an arriving part is the complete sum: it replaces the "
         "one there.",
         added_again},
        {"One step of the ring is missing: in each buffer one part is not the sum of all.",
         "It takes devices - 1 steps until each part is complete in one member, and as many again "
         "until all members have it.",
         [=] { return ring(before, members, n, 1, 2 * (members - 1) - 1, members - 1); }},
        {"The ring turns one way, and the parts are numbered for the other.",
         "In each step member k gets the part that its neighbour got in the step before: does it "
         "come from member k - 1, and which part has that member just got?",
         [=] { return ring(before, members, n, members - 1, 2 * (members - 1), members - 1); }},
        {"The last member's numbers are missing.", "A ring of N members adds N - 1 times.",
         same_everywhere([members](int, int m) { return float(m + 1 < members); })},
        {"Each member has added only one neighbour's numbers to its own.",
         "The neighbour must send its sum so far, not its original numbers.",
         same_everywhere([members](int k, int m) {
             return float(k == m || (k + members - 1) % members == m);
         })},
    };
}

static void expect_sums(const output<float> &all, const floats &before, int members, int n)
{
    oracle::sums want = oracle::all_reduce(before, n, members);
    if (members > 1 && n > 0) expect_changed("all_reduce", all.values, before, {});
    doubles values, magnitudes;
    for (int k = 0; k < members; ++k) {
        values.insert(values.end(), want.values.begin(), want.values.end());
        magnitudes.insert(magnitudes.end(), want.magnitudes.begin(), want.magnitudes.end());
    }
    auto known = wrong_sums(before, members, n);
    floats sums(all.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = within(all[i], values[i], members, magnitudes[i]) ? all[i] : float(values[i]);
    known.push_back(not_divided(all, before, sums, n));
    expect_close(all, values, members, magnitudes, {}, known);
    for (int k = 1; k < members; ++k)
        for (int i = 0; i < n; ++i)
            expect(all[std::size_t(k) * std::size_t(n) + std::size_t(i)] == all[std::size_t(i)],
                   verdict::WRONG_ANSWER,
                   "buffers[" + std::to_string(k) + "][" + std::to_string(i) +
                       "] is nearly equal to that of buffers[0], but not the same.",
                   "Add up each element in one place, and copy the sum to the others.");
}

static void try_all_reduce(int members, int n)
{
    floats before = buffers_of(members, n);
    auto all = changed_in_place(before);
    host_may_work();
    CALL(all_reduce, per_device(all, members), n, members);
    expect_sums(all, before, members, n);
}

// Systems of equations.

static doubles random_system(int n)
{
    doubles a;
    for (float x : random_floats(std::size_t(n) * std::size_t(n + 1))) a.push_back(x);
    return a;
}

static double &at(doubles &augmented, int n, int row, int column)
{
    return augmented[std::size_t(row) * std::size_t(n + 1) + std::size_t(column)];
}

// Numbers that no call would write.
static output<double> no_solution(int n)
{
    return changed_in_place(doubles(static_cast<std::size_t>(n), 0x1.23456789p+300));
}

static std::set<std::string> have_solved; // functions: they have been written

static void expect_solved(int result, const doubles &augmented, int n, const output<double> &x,
                          const std::string &function = "eliminate")
{
    const std::string returned = function + " returned " + std::to_string(result);
    if (result != 0 && have_solved.count(function)) {
        bool by_value = oracle::eliminate(augmented, n, oracle::pivoting::positive).empty();
        expect(false, verdict::WRONG_ANSWER, returned + ": singular. The system has one solution.",
               by_value
                   ? "Look for the largest by magnitude: a negative number can be a pivot, too."
                   : "Return 0 if there is a pivot for each column: look at all rows that have had "
                     "none yet.");
    }
    expect(n == 0 || x.values != no_solution(n).values, verdict::NOT_WRITTEN,
           result == 0 ? function + " returned, and wrote no number of x."
                       : returned + ": singular, and no x. The system has one solution.",
           result == 0 ? ""
                       : "A system is singular if only zeros are left to choose a pivot from: look "
                         "at all rows that have had no pivot yet.");
    expect(result == 0, verdict::WRONG_ANSWER,
           returned + ": singular. The system has one solution.",
           function == "eliminate"
               ? "Return 0 if there is a pivot for each column."
               : "Print the first received column on each rank: is it complete? A scatter's "
                 "counts and displacements count elements of the type that it is given.");
    const doubles any_row = oracle::eliminate(augmented, n, oracle::pivoting::any_row);
    bool alike = any_row.size() == x.size() && any_row.size() > 1;
    for (std::size_t i = 0; alike && i < any_row.size(); ++i)
        alike = std::abs(x[i] - any_row[i]) <= 1e-6 * std::abs(any_row[i]);
    const double error = oracle::backward_error(augmented, n, x.values);
    const double most = (n + 10) * 0x1p-52;
    expect(error <= most || !alike, verdict::WRONG_ANSWER,
           "x is the result of choosing a row again that has been a pivot's already.",
           "In column k, look for the largest number in row k and below it: the rows above have "
           "had their pivots.");
    expect(
        error <= most, verdict::WRONG_ANSWER,
        "x does not solve the system of " + std::to_string(n) +
            " equations: in one of them the two sides differ by " + show_element(error) +
            " of the terms' sum; " + show_element(most) + " is allowed.",
        function == "eliminate"
            ? "Does every member know each pivot's row and all multipliers before it uses them, "
              "and does the right-hand side take part in everything?"
            : "Print on rank 1, for column 1, the message that it uses: the row of the pivot, and "
              "a multiplier for each row, n + 1 numbers. Is the broadcast's root the rank that "
              "has the column, column % ranks, is it as long as that, and is it the same on "
              "rank 0?");
}

// The host could solve the system itself, which only smaller ones allow.
static void expect_eliminated_by_kernels(int n)
{
    double each = 8.0 * n * (n + 1), multiplications = double(n) * n * n / 3;
    if (n >= 33) expect_work_of_kernels(each, 0.9 * multiplications);
}

static void every_member_is_told()
{
    hint_unwritten("Does each column's message reach every other member completely before a kernel "
                   "there reads it? It is n + 1 numbers: the row of the pivot, and a multiplier "
                   "for each row. Print on which device it was read, and which number of it.");
}

static void try_eliminate(const doubles &augmented, int n, int members)
{
    auto x = no_solution(n);
    every_member_is_told();
    int result = CALL(eliminate, host(augmented), n, host(x), members);
    expect_solved(result, augmented, n, x);
    expect_eliminated_by_kernels(n);
    if (n > 0) have_solved.insert("eliminate");
}

// Has a first pivot of 1e-20 if the rows stay where they are. The wrong result is then the same on
// every machine.
static void try_tiny_pivot(int members, double other, const char *chosen, const char *next)
{
    doubles system = {1e-20, 1, 3, other, 2 + double(random_between(0, 5)), 10.5};
    auto x = no_solution(2);
    int result = CALL(eliminate, host(system), 2, host(x), members);
    doubles naively = oracle::eliminate(system, 2, oracle::pivoting::none);
    expect(x.values != naively, verdict::WRONG_ANSWER, chosen, next);
    expect_solved(result, system, 2, x);
}

static void try_singular(const doubles &augmented, int n, int members, const char *why)
{
    auto x = no_solution(n);
    int result = CALL(eliminate, host(augmented), n, host(x), members);
    expect(result != 0, verdict::WRONG_ANSWER,
           std::string("eliminate returned 0 for a singular system: ") + why,
           "When the largest number left in a column is 0, there is no pivot: return a number "
           "other than 0.");
}

// Pictures.

static void try_merge(int width, int height, int count, int members)
{
    auto n = std::size_t(width) * std::size_t(height) * std::size_t(count);
    bytes first(n), second(n);
    fill_random(first, random_source());
    fill_random(second, random_source());
    output<unsigned char> out(n);
    CALL(merge_images, host(first), host(second), host(out), width, height, count, members);
    expect_equal(out, oracle::merge_images(first, second),
                 {std::size_t(count), std::size_t(height), std::size_t(width)},
                 {{"The two images were exchanged.", "The first one has the weight 3.",
                   [&] { return oracle::merge_images(second, first); }}});
    expect_work_of_kernels(3.0 * double(n));
}

// The speed cases.

// On the simulator always four; else as many as there are, or two that share.
static int raced_members()
{
    return simulated() ? 4 : std::clamp(device().devices, 2, most_devices);
}

namespace {

struct race_parts {
    const char *function;
    std::function<std::vector<argument>()> arguments;
    std::function<std::vector<std::span<std::byte>>(std::mt19937_64 &)> change;
    std::function<void()> check;
};

class one_race : public workload {
public:
    explicit one_race(race_parts parts) : parts_(std::move(parts)) {}
    const char *function() const override { return parts_.function; }
    std::vector<argument> arguments() override { return parts_.arguments(); }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return parts_.change(random);
    }
    void check() override { parts_.check(); }
    bool in_kernels() const override { return false; } // what they must do is counted below

private:
    race_parts parts_;
};

// Buffers that a call changes, and what they were.
struct raced_buffers {
    int members = raced_members();
    // Long enough for a link's speed to show; a round hands all of it over anew.
    int n = simulated() ? 1 << 16 : 1 << 23;
    floats before = floats(std::size_t(members) * std::size_t(n));
    output<float> all{0};

    explicit raced_buffers(std::mt19937_64 &random)
    {
        fill_random(before, random);
        all = changed_in_place(before);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random)
    {
        auto stretch = std::span(before).subspan(random() % (before.size() / 2), before.size() / 4);
        fill_random(stretch, random);
        all.values = before;
        return {}; // what is not all in one device's memory is handed over anew
    }
};

} // namespace

template <class F> static make_workload
buffer_race(const char *name, std::vector<argument> (*arguments)(raced_buffers &), F check)
{
    return [=](std::mt19937_64 &random) {
        auto p = std::make_shared<raced_buffers>(random);
        return std::make_unique<one_race>(
            race_parts{name, [=] { return arguments(*p); },
                       [p](std::mt19937_64 &r) { return p->change(r); }, [=] { check(*p); }});
    };
}

static make_workload broadcast_race()
{
    return buffer_race(
        "broadcast",
        [](raced_buffers &p) {
            return remote<decltype(broadcast)>::arguments(per_device(p.all, p.members), p.n,
                                                          p.members);
        },
        [](raced_buffers &p) {
            auto n = std::size_t(p.n);
            if (for_all(p.before.size(),
                        [&](std::size_t i) { return p.all[i] == p.before[i % n]; }))
                return;
            expect_changed("broadcast", p.all.values, p.before, {});
            expect_equal(p.all, broadcast_of(p.before, p.members, p.n), {},
                         wrong_broadcasts(p.before, p.members, p.n));
        });
}

static make_workload reduce_race()
{
    return buffer_race(
        "all_reduce",
        [](raced_buffers &p) {
            return remote<decltype(all_reduce)>::arguments(per_device(p.all, p.members), p.n,
                                                           p.members);
        },
        [](raced_buffers &p) {
            auto n = std::size_t(p.n);
            auto right = [&](std::size_t i) {
                double sum = 0, magnitude = 0;
                for (std::size_t at = i; at < p.before.size(); at += n) {
                    sum += p.before[at];
                    magnitude += std::abs(p.before[at]);
                }
                bool all = within(p.all[i], sum, p.members, magnitude);
                for (std::size_t at = i; at < p.before.size(); at += n)
                    all &= p.all[at] == p.all[i];
                return all;
            };
            if (!for_all(n, right)) expect_sums(p.all, p.before, p.members, p.n);
        });
}

static make_workload eliminate_race()
{
    return [](std::mt19937_64 &random) {
        struct parts {
            int n = simulated() ? 96 : 1024;
            doubles a;
            output<double> x{0};
        };
        auto p = std::make_shared<parts>();
        auto renew = [p](std::mt19937_64 &r) {
            std::uniform_real_distribution<double> any(-1, 1);
            p->a.resize(std::size_t(p->n) * std::size_t(p->n + 1));
            for (double &x : p->a) x = any(r);
            p->x = no_solution(p->n);
            return std::vector{std::as_writable_bytes(std::span(p->a))};
        };
        renew(random);
        return std::make_unique<one_race>(
            race_parts{"eliminate",
                       [=] {
                           return remote<decltype(eliminate)>::arguments(
                               host(p->a), p->n, host(p->x), raced_members());
                       },
                       renew, [=] { expect_solved(0, p->a, p->n, p->x); }});
    };
}

static make_workload merge_race()
{
    return [](std::mt19937_64 &random) {
        struct parts {
            int width = simulated() ? 61 : 1919, height = simulated() ? 40 : 1080, count = 16;
            bytes first, second;
            output<unsigned char> out{0};
        };
        auto p = std::make_shared<parts>();
        auto n = std::size_t(p->width) * std::size_t(p->height) * std::size_t(p->count);
        p->first.resize(n);
        p->second.resize(n);
        p->out = output<unsigned char>(n);
        auto renew = [p](std::mt19937_64 &r) {
            fill_random(p->first, r);
            fill_random(p->second, r);
            return std::vector{std::as_writable_bytes(std::span(p->first)),
                               std::as_writable_bytes(std::span(p->second))};
        };
        renew(random);
        return std::make_unique<one_race>(race_parts{
            "merge_images",
            [=] {
                return remote<decltype(merge_images)>::arguments(host(p->first), host(p->second),
                                                                 host(p->out), p->width, p->height,
                                                                 p->count, raced_members());
            },
            renew, [=] { expect_equal(p->out, oracle::merge_images(p->first, p->second)); }});
    };
}

// The gates that the simulator counts, with four members.

constexpr double buffer_bytes = 4.0 * (1 << 16);

static counted_gate no_host_link()
{
    return at_most("bytes over host links, in buffers", {0.01}, "",
                   "Let the devices send to each other: cudaMemcpyPeerAsync, or kernels that "
                   "follow another device's pointers. Both need cudaDeviceEnablePeerAccess: "
                   "without it, copies go through the host.",
                   [](const counted &c) { return double(c.host_link_bytes) / buffer_bytes; });
}

static counted_gate sent(double most, const char *meaning)
{
    return at_most("bytes sent by a device, in buffers", {most}, "", meaning,
                   [](const counted &c) { return double(c.most_sent_bytes) / buffer_bytes; });
}

static counted_gate time_of_copies(double most, const char *meaning)
{
    return at_most("time, in multiples of one copy's", {most}, "", meaning,
                   [](const counted &c) { return double(c.ticks) / (buffer_bytes / 64); });
}

// The message if all work is queued at once and each step still waits for the one before it.
static std::string one_after_the_other(const counted &c)
{
    if (c.streams < 2 || c.holding_waits > 0) return {};
    if (double(c.ticks) < 0.97 * double(c.serial_ticks)) return {};
    return "The host did not wait, and yet no two devices ever worked at the same time: each "
           "waited for its neighbour. Step s of a member depends on its neighbour's step s - 1. An "
           "event that was recorded again since stands for step s: wait before that, or keep one "
           "event per step.";
}

static counted_gate busiest_link(double total)
{
    return at_most(
        "share of the host's bytes that one device gets", {0.35}, "%",
        "Each of four devices should get a fourth. Print each member's share, and its current "
        "device when it copies. Are the shares equal? Are the devices different? A host thread "
        "begins with device 0 as its current one, whatever the thread that started it had chosen.",
        [total](const counted &c) { return double(c.most_uploaded_bytes) / total; });
}

// The devices' input must have been sent to them, and the result from them, in bytes.
static counted_gate uploaded(double total)
{
    return at_least(
        "bytes sent to devices, in multiples of the inputs", {0.9}, "",
        "Let the devices work on the whole input: work of the host does not count.",
        [total](const counted &c) { return double(c.host_link_bytes - c.staged_bytes) / total; });
}

static counted_gate downloaded(double total)
{
    return at_least("bytes sent by devices, in multiples of the result", {1}, "",
                    "The devices must compute the result: copy it from there.",
                    [total](const counted &c) { return double(c.downloaded_bytes) / total; });
}

static double share_of_multiplications(const counted &c, bool of_busiest)
{
    auto four = std::span(c.multiplications_of).first(4);
    auto [least, most] = std::minmax_element(four.begin(), four.end());
    return double(of_busiest ? *most : *least) /
           double(std::max<std::uint64_t>(c.multiplications, 1));
}

// A host that waits for one member after the other puts late work in order, which hides missing
// waits; so other orders are tried as well.
template <class F> static void late_and_shuffled(F tries)
{
    for (stream_work when : {stream_work::late, stream_work::shuffled}) {
        run_streams(when);
        tries();
    }
}

CORRECTNESS_CASE("peer_table: who reaches whom", 0.5)
{
    for (int members : few_members) try_peer_table(members);
}

CORRECTNESS_CASE("peer_table: some have no access", 1)
{
    const pairs closed = {{0, 1}, {2, 0}, {1, 3}, {3, 1}, {3, 2}};
    close_peers(closed);
    for (int members : {2, 4, 7}) try_peer_table(members, closed);
}

CORRECTNESS_CASE("broadcast: two members", 0.5) { try_broadcast(2, 10); }

CORRECTNESS_CASE("broadcast: any number of members", 1)
{
    for (int members : few_members) try_broadcast(members, 1001);
}

CORRECTNESS_CASE("broadcast: any number of elements", 0.5)
{
    for (int n : {1, 3, 4097, 50003, 0}) try_broadcast(4, n);
}

CORRECTNESS_CASE("broadcast: work that comes late", 1)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4, 6}) try_broadcast(members, 20001);
    });
}

CORRECTNESS_CASE("broadcast: no access to each other", 0.5)
{
    close_peers(across);
    try_broadcast(4, 5000);
    close_all_peers();
    try_broadcast(4, 5000);
}

SPEED_CASE("broadcast: what is sent", 4.5, 0)
{
    speed_gates gates;
    gates.counted = {
        no_host_link(),
        // 1.5 where the root scatters and all then gather
        sent(1.6, "One device sends everything to all the others, whose own links are idle: let "
                  "each device send on every piece that it has received."),
        time_of_copies(
            1.6,
            "If each device waits for all of the data before it sends them on, the time is that of "
            "one copy per link: send the data in pieces. Do the copies overlap? Copies in NULL "
            "streams are serialised if they share a device: give each device a stream of its own."),
    };
    host_may_work();
    race(broadcast_race(), gates);
}

CORRECTNESS_CASE("all_reduce: two members", 0.5) { try_all_reduce(2, 10); }

CORRECTNESS_CASE("all_reduce: any number of members", 1)
{
    for (int members : few_members) try_all_reduce(members, 1003);
}

CORRECTNESS_CASE("all_reduce: any number of elements", 1)
{
    for (int n : {1, 2, 3, 5, 4097, 50003, 0}) try_all_reduce(4, n);
    try_all_reduce(3, 4);
}

CORRECTNESS_CASE("all_reduce: work that comes late", 1)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4, 6}) try_all_reduce(members, 9001);
    });
}

CORRECTNESS_CASE("all_reduce: no access to each other", 0.5)
{
    close_peers(across);
    try_all_reduce(4, 5001);
    close_all_peers();
    try_all_reduce(4, 5001);
}

SPEED_CASE("all_reduce: what is sent", 6.5, 0)
{
    speed_gates gates;
    gates.counted = {
        no_host_link(),
        sent(1.6, "A gather to one device and back makes that one send everything to all others. "
                  "In a ring each member adds up one part, and sends each part once while it is "
                  "added up and once when it is complete."),
    };
    host_may_work();
    race(reduce_race(), gates);
}

SPEED_CASE("all_reduce: speed", 4.5, 10)
{
    expect(simulated() || device().devices > 1, verdict::SKIPPED,
           "With one GPU nothing travels between devices, so there is nothing to time.");
    speed_gates gates;
    gates.speedup = 1.4;
    gates.counted = {
        time_of_copies(3, "Do all devices send and receive all the time? Each step of a ring "
                          "should begin as soon as the neighbour has finished the one before.")};
    gates.counted.front().cause = one_after_the_other;
    gates.too_slow = "Which way do the data go: through the host, or all through one device?";
    host_may_work();
    race(reduce_race(), gates);
}

CORRECTNESS_CASE("eliminate: a few equations", 0.5)
{
    for (int members : {1, 2}) {
        try_eliminate({2, 1, 5, 1, 3, 10}, 2, members);
        try_eliminate({0, 2, 1, 4, 3, 0, 2, 7, 1, 1, 1, 6}, 3, members);
    }
}

CORRECTNESS_CASE("eliminate: any size, any number of members", 1)
{
    for (int n : {1, 2, 15, 33}) try_eliminate(random_system(n), n, 4);
    for (int members : {1, 2, 3, 5, 7}) try_eliminate(random_system(35), 35, members);
    try_eliminate(random_system(70), 70, 3);
    if (!simulated()) try_eliminate(random_system(1000), 1000, device().devices);
    // Not more: naive, too, should need but a part of a call's ten seconds.
    if (!simulated()) try_eliminate(random_system(2001), 2001, device().devices);
    try_eliminate({}, 0, 2);
}

CORRECTNESS_CASE("eliminate: pivots that are too small", 1)
{
    double other = 1 + random_between(0, 5);
    for (int members : {1, 2}) {
        try_tiny_pivot(members, other,
                       "This is the result if the first number is taken for the pivot, here 1e-20: "
                       "no digit is right.",
                       "Look for the largest in the column and exchange the rows.");
        try_tiny_pivot(members, -other,
                       "The pivot chosen was 1e-20, although there was a negative number of "
                       "greater magnitude.",
                       "Compare magnitudes: fabs.");
    }
    doubles system = random_system(40);
    for (int k = 0; k < 40; ++k) at(system, 40, k, k) *= 1e-14;
    try_eliminate(system, 40, 3);
    for (int k = 0; k < 40; ++k) at(system, 40, k, k) = 0;
    try_eliminate(system, 40, 3);
}

CORRECTNESS_CASE("eliminate: singular systems", 1)
{
    try_eliminate({3, 6}, 1, 1); // finding all systems singular is no answer
    try_singular({0, 1}, 1, 1, "0 * x = 1.");
    for (int members : {1, 3}) {
        doubles column = random_system(20), rows = random_system(20);
        for (int i = 0; i < 20; ++i) at(column, 20, i, 13) = 0;
        try_singular(column, 20, members, "one of its columns is 0.");
        // The first pivot, a power of two: the rows cancel out to zeros whether a multiplier is a
        // quotient or a product with the pivot's reciprocal.
        at(rows, 20, 4, 0) = 2;
        for (int j = 0; j <= 20; ++j) at(rows, 20, 17, j) = at(rows, 20, 4, j);
        try_singular(rows, 20, members, "two of its equations are the same.");
    }
}

CORRECTNESS_CASE("eliminate: nearly singular systems", 0.5)
{
    doubles hilbert;
    for (int i = 0; i < 11; ++i)
        for (int j = 0; j <= 11; ++j) hilbert.push_back(j < 11 ? 1.0 / (i + j + 1) : i % 3 - 1.0);
    try_eliminate(hilbert, 11, 2);
    doubles system = random_system(40);
    for (int j = 0; j < 40; ++j)
        at(system, 40, 22, j) = at(system, 40, 31, j) * (1 + 1e-11 * random_between(-9, 9));
    try_eliminate(system, 40, 4);
}

CORRECTNESS_CASE("eliminate: work that comes late", 1)
{
    late_and_shuffled([] {
        for (int members : {2, 3, 4}) try_eliminate(random_system(35), 35, members);
    });
}

CORRECTNESS_CASE("eliminate: no access to each other", 0.5)
{
    close_all_peers();
    try_eliminate(random_system(35), 35, 4);
}

SPEED_CASE("eliminate: who works, who waits", 2, 0)
{
    constexpr double n = 96;
    // For each of four members: to allocate, to send its columns, to copy them back, to free.
    constexpr double other_waits = 4 * 8;
    speed_gates gates;
    gates.counted = {
        at_most(
            "waits of the host per column, beyond 8 per member", {1}, "",
            "While the host waits for a number, all devices wait. The data that one step needs "
            "from another can stay on the devices, even the row of the pivot. A copy from or to "
            "ordinary memory waits by itself, so a wait behind it is a second one.",
            [](const counted &c) { return std::max(0.0, double(c.host_waits) - other_waits) / n; }),
        at_least("multiplications done on devices", {0.9}, "%", "Let kernels eliminate.",
                 [](const counted &c) { return double(c.multiplications) / (n * n * n / 3); }),
        at_most("multiplications on the busiest of four devices", {0.4}, "%",
                "Does each member eliminate in its own columns, and in no others?",
                [](const counted &c) { return share_of_multiplications(c, true); }),
        at_least("multiplications on the least busy of four devices", {0.15}, "%",
                 "Deal the columns out in turn: if each member has a block of neighbouring "
                 "columns, the first has nothing to do once its own are done.",
                 [](const counted &c) { return share_of_multiplications(c, false); }),
        busiest_link(8 * n * (n + 1)),
        uploaded(8 * n * (n + 1)),
        downloaded(8 * n),
    };
    race(eliminate_race(), gates);
}

CORRECTNESS_CASE("merge_images: a few images", 0.5) { try_merge(5, 4, 6, 2); }

CORRECTNESS_CASE("merge_images: any number of images and members", 0.5)
{
    for (int count : {9, 1, 3, 4, 0}) try_merge(33, 7, count, 4);
    for (int members : few_members) try_merge(11, 3, 10, members);
}

SPEED_CASE("merge_images: a share for each", 4.5, 0)
{
    constexpr double n = 61.0 * 40 * 16;
    speed_gates gates;
    gates.counted = {busiest_link(2 * n),
                     at_least("pixels merged by kernels", {0.9}, "%",
                              "Let kernels merge the images.",
                              [](const counted &c) { return double(c.store_bytes) / n; }),
                     uploaded(2 * n), downloaded(n)};
    race(merge_race(), gates);
}

static void expect_alike(int ranks)
{
    const std::span<const std::uint64_t> returned = returned_by_ranks();
    for (std::size_t i = 0; i < returned.size(); ++i) {
        const std::size_t k = i % std::size_t(ranks);
        const int here = int(returned[i]), first = int(returned[i - k]);
        expect((here == 0) == (first == 0), verdict::WRONG_ANSWER,
               "Rank " + std::to_string(k) + " returned " + std::to_string(here) +
                   ", where rank 0 returned " + std::to_string(first) +
                   ": whether it is 0 must be the same on all ranks.",
               "Only rank 0 knows whether there is a solution. It must tell the others, and they "
               "must return the same: TODO 18.");
    }
}

static void solve_on_ranks(int ranks, const doubles &augmented, int n)
{
    run_on_ranks(ranks);
    every_member_is_told();
    auto x = no_solution(n);
    int result = CALL(eliminate_ranks, host(augmented), n, host(x));
    expect_solved(result, augmented, n, x, "eliminate_ranks");
    if (n > 0) have_solved.insert("eliminate_ranks");
    expect_alike(ranks);
}

static void solve_on_devices_of_ranks(int ranks, int n)
{
    solve_on_ranks(ranks, random_system(n), n);
    expect_eliminated_by_kernels(n);
}

CORRECTNESS_CASE("eliminate_ranks: two ranks", 0.5)
{
    for (int n : {1, 2, 33, simulated() ? 50 : 1000, 0}) solve_on_devices_of_ranks(2, n);
}

CORRECTNESS_CASE("eliminate_ranks: a tiny first pivot, and an ill-conditioned system", 0.5)
{
    run_on_ranks(2);
    doubles system = {1e-20, 1, 3, 4, 2 + double(random_between(0, 5)), 10.5};
    auto x = no_solution(2);
    int result = CALL(eliminate_ranks, host(system), 2, host(x));
    expect(x.values != oracle::eliminate(system, 2, oracle::pivoting::none), verdict::WRONG_ANSWER,
           "x is the result if the rows stay where they are: the first pivot was 1e-20, and all "
           "other digits were lost by rounding.",
           "All ranks must know which row has the largest number, and exchange it with row k in "
           "all of their columns.");
    expect_solved(result, system, 2, x, "eliminate_ranks");
    doubles hilbert;
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j <= 10; ++j) hilbert.push_back(j < 10 ? 1.0 / (i + j + 1) : i % 3 - 1.0);
    solve_on_ranks(2, hilbert, 10);
}

CORRECTNESS_CASE("eliminate_ranks: singular systems", 0.5)
{
    run_on_ranks(2);
    const int n = 20, zero = random_between(1, n - 1);
    doubles system = random_system(n);
    solve_on_ranks(2, system, n); // which has a solution still
    for (int i = 0; i < n; ++i) at(system, n, i, zero) = 0;
    auto x = no_solution(n);
    int result = CALL(eliminate_ranks, host(system), n, host(x));
    expect(result != 0, verdict::WRONG_ANSWER,
           "eliminate_ranks returned 0 for a singular system: column " + std::to_string(zero) +
               " is all zeros.",
           "When the largest number left in a column is 0, there is no pivot: every rank must "
           "return a number other than 0.");
    expect_alike(2);
}

CORRECTNESS_CASE("eliminate_ranks: every rank does its share", 0.5)
{
    const int n = 100;
    const doubles system = random_system(n);
    std::vector<counted> did = count_ranks([&] { solve_on_ranks(2, system, n); });
    const double all = double(n) * n * n / 3; // multiplications that elimination needs
    for (std::size_t k = 0; k < did.size(); ++k) {
        const double share = double(did[k].multiplications) / all;
        const std::string of_all = "The device of rank " + std::to_string(k) + " of 2 did " +
                                   std::to_string(int(100 * share + 0.5)) +
                                   " % of the multiplications that elimination needs";
        expect(share >= 0.2, verdict::WRONG_ANSWER, of_all + ": too few.",
               "Scatter the columns; then each rank's device eliminates in its own.");
        expect(share <= 0.85, verdict::WRONG_ANSWER, of_all + ": it did all the work.",
               "A rank that has the whole system does the whole work: let "
               "each rank eliminate in its own columns only.");
    }
    // Rank 1's columns must get there, and at least its unknowns come back.
    const double least[] = {0.9 * 8 * n * (n + 1) / 2, 0.9 * 8 * n / 2};
    for (std::size_t k = 0; k < did.size(); ++k)
        expect(double(did[k].message_bytes) >= least[k], verdict::WRONG_ANSWER,
               "Rank " + std::to_string(k) + " of 2 sent " + std::to_string(did[k].message_bytes) +
                   " bytes by MPI; it takes " + show_element(least[k]) + " to " +
                   (k == 0 ? "send the other rank its half of the system."
                           : "send back the result of its half of the system."),
               "Scatter the columns, let each rank eliminate in its own, and gather them: with "
               "sends or collective calls.");
}

CORRECTNESS_CASE("eliminate_ranks: four ranks", 0.5)
{
    // Last, since these ranks must be started. Where they share a GPU, each turn that they take on
    // it costs time.
    const int n = simulated() ? 66 : device().devices < 4 ? 1001 : 2001;
    solve_on_devices_of_ranks(4, n);
}
