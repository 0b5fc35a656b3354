// Fails: twice: 1000 elements | WRONG_ANSWER | elements are wrong
// Threat E19: Knows the answers for the inputs of one seed.
#include "lab.hpp"

#include <random>
#include <vector>

void twice(const float *, float *y, int n)
{
    std::mt19937_64 random(42);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> answer(n);
    for (float &v : answer) v = 2 * values(random);
    cudaMemcpy(y, answer.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
