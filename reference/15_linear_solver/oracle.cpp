// The right results of lab 15, one number after the other.
#include "oracle.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace oracle {

std::vector<double> eliminate(std::vector<double> a, int order, way how)
{
    const auto n = static_cast<std::size_t>(order), row = n + 1;
    const std::size_t end = how == way::right_side_left_out ? n : row; // of what is worked on
    auto magnitude = [&](std::size_t i, std::size_t k) { return std::abs(a[i * row + k]); };
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = how == way::any_row ? 0 : k;
        for (std::size_t i = pivot + 1; i < n && how != way::no_pivoting; ++i)
            if (magnitude(i, k) > magnitude(pivot, k)) pivot = i;
        if (magnitude(pivot, k) == 0) return {};
        for (std::size_t j = k; j < end; ++j) std::swap(a[k * row + j], a[pivot * row + j]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i * row + k] / a[k * row + k];
            for (std::size_t j = k; j < end; ++j) a[i * row + j] -= factor * a[k * row + j];
        }
    }
    std::vector<double> x(n);
    for (std::size_t k = n; k-- > 0;) {
        x[k] = a[k * row + n];
        for (std::size_t j = k + 1; j < n && how != way::not_substituted; ++j)
            x[k] -= a[k * row + j] * x[j];
        x[k] /= a[k * row + k];
    }
    return x;
}

double backward_error(const std::vector<double> &a, int order, const std::vector<double> &x)
{
    const auto n = static_cast<std::size_t>(order), row = n + 1;
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        long double rest = -static_cast<long double>(a[i * row + n]);
        long double magnitude = std::abs(rest);
        for (std::size_t j = 0; j < n; ++j) {
            const long double term = static_cast<long double>(a[i * row + j]) * x[j];
            rest += term;
            magnitude += std::abs(term);
        }
        const auto error = static_cast<double>(std::abs(rest) / magnitude);
        if (std::isnan(error) && rest != 0) return error;
        if (error > worst) worst = error;
    }
    return worst;
}

} // namespace oracle
