// Grades the lab of ranks.
#include "grader/grading.hpp"
#include "lab.hpp"

#include <numeric>

using namespace grading;

static void sum_on(int ranks, int n)
{
    std::vector<int> values = random_ints(n, -1000, 1000);
    output<int> sum(1);
    int said = CALL(sum_on_ranks, host(values), n, host(sum));
    expect_equal(sum, {std::accumulate(values.begin(), values.end(), 0)});
    expect(said == ranks, verdict::WRONG_ANSWER,
           "sum_on_ranks returned " + std::to_string(said) + ", not the number of ranks.");
}

CORRECTNESS_CASE("two ranks", 2)
{
    run_on_ranks(2);
    for (int n : {1000, 1, 0}) sum_on(2, n);
}

CORRECTNESS_CASE("four ranks", 1)
{
    run_on_ranks(4);
    sum_on(4, 1001);
}

CORRECTNESS_CASE("every rank does its share", 1)
{
    run_on_ranks(2);
    std::vector<counted> did = count_ranks([] { sum_on(2, 512); });
    for (std::size_t k = 0; k < did.size(); ++k)
        expect(did[k].threads >= 256 && did[k].threads <= 384, verdict::WRONG_ANSWER,
               "Rank " + std::to_string(k) + " ran " + std::to_string(did[k].threads) +
                   " threads for its half of 512 values.",
               "Each rank's device sums the values that were scattered to it.");
}
