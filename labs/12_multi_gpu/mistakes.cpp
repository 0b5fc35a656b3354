// Recognises the wrong answers of lab 12.
#include "mistakes.hpp"

#include "oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

using namespace grading;
using doubles = std::vector<double>;

std::vector<misconception<int>> wrong_tables(const std::vector<int> &want, int members, int devices)
{
    auto table = [=](auto entry) {
        return [=] {
            std::vector<int> all;
            for (int i = 0; i < members; ++i)
                for (int j = 0; j < members; ++j) all.push_back(entry(i, j));
            return all;
        };
    };
    auto at = [=](int i, int j) { return want[std::size_t(i * members + j)]; };
    return {{"Members were taken to have no access to memory of their own device.",
             "cudaDeviceCanAccessPeer is for two different devices; a device always has access to "
             "its own memory.",
             table([=](int i, int j) { return i % devices == j % devices ? 0 : at(i, j); })},
            {"Rows and columns have changed places.",
             "Entry [i * devices + j] says whether i reaches j: i is the first device in the call.",
             table([=](int i, int j) { return at(j, i); })}};
}

static std::size_t index_of(int n, int member, int i)
{
    return std::size_t(member) * std::size_t(n) + std::size_t(i);
}

static auto part(floats &all, int n, int member)
{
    return std::span(all).subspan(index_of(n, member, 0), std::size_t(n));
}

floats broadcast_of(const floats &before, int members, int n)
{
    floats all = before;
    for (int k = 1; k < members; ++k)
        std::copy(before.begin(), before.begin() + n, part(all, n, k).begin());
    return all;
}

std::vector<misconception<float>> wrong_broadcasts(const floats &before, int members, int n)
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

void expect_changed(const char *function, const floats &got, const floats &before,
                    const floats &want)
{
    expect(want == before || got != before, verdict::NOT_WRITTEN,
           std::string(function) + " returned, and no buffer has changed.",
           "Is anything copied from one device to another?");
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

misconception<float> not_divided(const output<float> &got, const floats &before, const floats &want,
                                 int n)
{
    const int rest = left_over(got.values, before, want, n);
    return {
        "In each buffer the last " + std::to_string(rest) + " of " + std::to_string(n) +
            " elements are unchanged.",
        "n is no multiple of the number of pieces or of members: the last piece must extend to n.",
        [&got, rest] { return rest > 0 ? got.values : floats(); }};
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
                const std::size_t own = index_of(n, k, i), other = index_of(n, from, i);
                all[own] = step < complete ? then[own] + then[other] : then[other];
            }
        }
    }
    return all;
}

std::vector<misconception<float>> wrong_sums(const floats &before, int members, int n)
{
    // One turn brings each part's sum to a member, a second one to all others.
    const int turn = members - 1;
    auto turned = [=](int by, int steps, int complete) {
        return [=] { return ring(before, members, n, by, steps, complete); };
    };
    auto same_everywhere = [before, members, n](auto value) {
        return [=] {
            floats all;
            for (int k = 0; k < members; ++k)
                for (int i = 0; i < n; ++i) {
                    float sum = 0;
                    for (int m = 0; m < members; ++m)
                        sum += value(k, m) * before[index_of(n, m, i)];
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
         turned(1, 2 * turn, 2 * turn)},
        {"One step of the ring is missing: in each buffer one part is not the sum of all.",
         "It takes devices - 1 steps until each part is complete in one member, and as many again "
         "until all members have it.",
         turned(1, 2 * turn - 1, turn)},
        {"The ring turns one way, and the parts are numbered for the other.",
         "In each step member k gets the part that its neighbour got in the step before: does it "
         "come from member k - 1, and which part has that member just got?",
         turned(members - 1, 2 * turn, turn)},
        {"The last member's numbers are missing.", "A ring of N members adds N - 1 times.",
         same_everywhere([members](int, int m) { return float(m + 1 < members); })},
        {"Each member has added only one neighbour's numbers to its own.",
         "The neighbour must send its sum so far, not its original numbers.",
         same_everywhere([members](int k, int m) {
             return float(k == m || (k + members - 1) % members == m);
         })},
    };
}

void expect_sums(const output<float> &all, const floats &before, int members, int n)
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
            expect(all[index_of(n, k, i)] == all[std::size_t(i)], verdict::WRONG_ANSWER,
                   "buffers[" + std::to_string(k) + "][" + std::to_string(i) +
                       "] is nearly equal to that of buffers[0], but not the same.",
                   "Add up each element in one place, and copy the sum to the others.");
}

std::string one_after_the_other(const counted &c)
{
    if (c.streams < 2 || c.holding_waits > 0) return {};
    if (double(c.ticks) < 0.97 * double(c.serial_ticks)) return {};
    return "The host did not wait, and yet no two devices ever worked at the same time: each "
           "waited for its neighbour. Step s of a member depends on its neighbour's step s - 1. An "
           "event that was recorded again since stands for step s: wait before that, or keep one "
           "event per step.";
}
