// The right results of lab 04, one element after the other.
#include "oracle.hpp"

#include <cmath>
#include <cstddef>

namespace oracle {

product sgemm(float alpha, const std::vector<float> &A, const std::vector<float> &B, float beta,
              const std::vector<float> &C, int j, int k, int l)
{
    std::size_t n = std::size_t(j) * l;
    product p{std::vector<double>(n), std::vector<double>(n)};
    for (int row = 0; row < j; ++row)
        for (int col = 0; col < l; ++col) {
            double sum = 0, magnitude = 0;
            // One row of A, one column of B.
            for (int i = 0; i < k; ++i) {
                double term = double(A[std::size_t(row) * k + i]) * B[std::size_t(i) * l + col];
                sum += term;
                magnitude += std::abs(term);
            }
            std::size_t at = std::size_t(row) * l + col;
            double old = beta == 0 ? 0 : double(beta) * C[at];
            p.values[at] = double(alpha) * sum + old;
            p.magnitudes[at] = std::abs(double(alpha)) * magnitude + std::abs(old);
        }
    return p;
}

product matmul(const std::vector<float> &M, const std::vector<float> &N, int j, int k, int l)
{
    return sgemm(1, M, N, 0, {}, j, k, l);
}

std::vector<double> column(float alpha, const std::vector<float> &A, const std::vector<float> &B,
                           int j, int k, int l, int col)
{
    std::vector<double> values(j);
    for (int row = 0; row < j; ++row) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
            sum += double(A[std::size_t(row) * k + i]) * B[std::size_t(i) * l + col];
        values[row] = double(alpha) * sum;
    }
    return values;
}

} // namespace oracle
