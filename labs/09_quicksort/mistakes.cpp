// Recognises the mistakes of lab 09.
#include "mistakes.hpp"

#include "oracle.hpp"

#include <algorithm>
#include <iterator>
#include <string>

using namespace grading;

void explain_sorting(std::size_t n)
{
    hint_without_end("A loop cannot end, or a pivot splits off no key, or few. For each part, look "
                     "at its number of keys, its pivot, its smallest and its largest key: is the "
                     "pivot always one of its keys, or can it lie outside of their range, for "
                     "instance because a sum of keys overflows 32 bits? If each part is much "
                     "shorter than the one that it came from, a loop in a kernel does not end.");
    hint_past_the_end(
        "There are no keys from n on: does a step compare with the key at n, or does a thread go "
        "on to it? Or is a part longer than the array that it is sorted in?",
        "keys in shared memory", n <= 2048 ? 4 * n : 0);
    hint_one_place("Each key needs a place of its own. In a row of 32 keys it follows from the "
                   "votes of lower lanes alone, for larger keys counted downwards; the next row "
                   "begins where this one has ended, and each warp where those before it have. "
                   "Print the places of two keys that collide: which of these is missing?");
    hint_unwritten("The smaller and the larger keys of a split are in `to`, or in your own array "
                   "for them. Keys that equal the pivot are not written there, nor is anything "
                   "beyond a part: whose place is read?");
    hint_another_order(
        "Which step depends on the order in which threads and blocks run? A place that atomicAdd "
        "gives does: that is right in a part that is still to be sorted, and wrong for a key's "
        "final place. Where a part begins must not depend on it, nor which keys are compared.");
}

void explain_recursion()
{
    hint_race("Do several threads change one number, as front++ does? No barrier helps there, but "
              "atomicAdd(&front, 1) does, and returns the place. Else: is there a barrier between "
              "the writes of other threads of the block and the reads of this one?");
    hint_race_of_grids(
        "Two grids access the same keys, and neither waits for the other. Does one thread of the "
        "block launch a side, or does each of them? Do the sides have keys and scratch of their "
        "own, so that in scratch, too, the right one begins behind the left one? And have all "
        "threads of the block finished the split, at a barrier, before that thread launches? A "
        "kernel cannot wait for the grids that it launches.");
    hint_one_place("Which two keys get the same place? Equal keys that stand before a key count in "
                   "its rank, too.");
    hint_unwritten("Every place in scratch from 0 to n - 1 must be written, by one key, before it "
                   "is read. Does each key have a place of its own?");
    hint_past_the_end("A part begins at its first key, in data and in scratch, and n is the number "
                      "of its own keys. Does the side behind the pivot begin and end at the right "
                      "place, and does each thread stop at n?");
    hint_another_order(
        "All keys are there. Either a side begins one key too late, or ends too early, so that a "
        "key stays where the split has left it; or a rank depends on the order of threads: count "
        "the smaller keys, and the equal ones before.");
}

// A bitonic network whose first step of a run, too, compares keys a distance apart, where each key
// of the first half belongs with its mirror image in the second.
static keys without_mirror_images(keys data)
{
    const std::size_t n = data.size();
    for (std::size_t run = 2; run < 2 * n; run *= 2)
        for (std::size_t d = run / 2; d > 0; d /= 2)
            for (std::size_t low = 0; low + d < n; ++low)
                if ((low & d) == 0 && data[low] > data[low + d])
                    std::swap(data[low], data[low + d]);
    return data;
}

static std::vector<misconception<unsigned>> wrong_orders(const keys &in)
{
    auto sorted_by = [&in](auto less) {
        return [&in, less] {
            keys out = in;
            std::sort(out.begin(), out.end(), less);
            return out;
        };
    };
    return {
        {"The largest keys come first.", "Smaller keys go to the front of a part.",
         sorted_by([](unsigned a, unsigned b) { return a > b; })},
        {"Keys from 2^31 on come first: they were compared as signed numbers.",
         "Keys are unsigned: are the variables that hold them unsigned, too?",
         sorted_by([](unsigned a, unsigned b) { return int(a) < int(b); })},
        {"This is the result of a network without mirror images: all its steps compare keys a "
         "distance apart.",
         "The first step that merges two ascending runs compares mirror images: the first key of "
         "one run with the last of the other, and so on inwards. Only the later steps compare at a "
         "distance.",
         [&in] { return without_mirror_images(in); }},
    };
}

// Ends the case where keys have got lost, or have come twice.
static void expect_all_there(const keys &got, const keys &sorted_in)
{
    keys there = got, gone, foreign;
    std::sort(there.begin(), there.end());
    if (there == sorted_in) return;
    std::set_difference(sorted_in.begin(), sorted_in.end(), there.begin(), there.end(),
                        std::back_inserter(gone));
    std::set_difference(there.begin(), there.end(), sorted_in.begin(), sorted_in.end(),
                        std::back_inserter(foreign));
    auto is_left = [&](unsigned key) {
        return std::binary_search(there.begin(), there.end(), key);
    };
    const std::string message =
        "Keys are missing: " + std::to_string(gone.size()) + " of " + std::to_string(got.size()) +
        ", the smallest of them " + show_element(gone[0]) + "; in their places is " +
        show_element(foreign[0]) + (foreign.back() != foreign[0] ? " and others." : ".");
    if (std::all_of(gone.begin(), gone.end(), is_left))
        expect(false, verdict::WRONG_ANSWER,
               message + " Each of them occurred more than once, and still occurs at least once.",
               "What happens to keys that equal the pivot, and to those that equal each other?");
    const bool none_left = std::none_of(gone.begin(), gone.end(), is_left);
    const std::size_t all_gone = gone.size();
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    if (none_left && all_gone < got.size() && gone.size() * 500 < got.size())
        expect(false, verdict::WRONG_ANSWER,
               message + " No equal key is left, as happens to pivots if the part of the keys that "
                         "equal them is not added.",
               "A part becomes three: smaller keys, larger ones, and between them those that equal "
               "the pivot, including the pivot itself. TODO 8 of the stub adds all three.");
    expect(false, verdict::WRONG_ANSWER, message,
           "Every key needs a place of its own: look at how many keys each thread, warp and block "
           "adds, and at the end of a part.");
}

// Where keys are all there and out of order.
static void expect_order(const output<unsigned> &got, const keys &in, const keys &want)
{
    auto known = wrong_orders(in);
    const bool recognised = std::any_of(
        known.begin(), known.end(), [&](const auto &m) { return m.looks_like() == got.values; });
    if (recognised || !got.again.empty()) return; // expect_equal says it
    std::size_t falls = 0, first = 0, right = 0;
    for (std::size_t i = got.size() - 1; i > 0; --i)
        if (got[i - 1] > got[i]) ++falls, first = i;
    if (falls == 0) return;
    while (got[right] == want[right]) ++right;
    const std::string where = std::to_string(first);
    constexpr std::size_t a_block = 256; // keys that hardly anybody splits
    expect(false, verdict::WRONG_ANSWER,
           "All " + std::to_string(in.size()) + " keys are there, in " + std::to_string(falls + 1) +
               " sorted runs: data[" + where + "], " + show_element(got[first]) +
               ", is smaller than the key before it, " + show_element(got[first - 1]) +
               ". The first " + std::to_string(right) + " keys are right.",
           in.size() <= a_block
               ? "So few keys are a leaf, which one block sorts by itself: which two keys does the "
                 "first wrong step compare, and should these two be compared?"
               : "Is every part sorted in the end, by a kernel that was launched or by the one "
                 "whose launch was refused, and is it the same part that was split off? Are tiles "
                 "and blocks rounded up?");
}

void expect_sorted(const output<unsigned> &got, const keys &in)
{
    const keys want = oracle::quicksort(in);
    expect_changed_in_place(
        got.values != in || in == want, "The function returned, but every key is where it was.",
        "Does a kernel run at all, and are the sorted keys copied back to `data`?");
    expect_all_there(got.values, want);
    expect_order(got, in, want);
    expect_equal(got, want, {}, [&] { return wrong_orders(in); });
}
