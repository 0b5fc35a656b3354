// The right results of lab 03, one particle after the other.
#include "oracle.hpp"

#include <cmath>
#include <cstddef>

namespace oracle {

moved drift(const std::vector<float> &aos, float dt)
{
    moved result;
    for (std::size_t i = 0; i < aos.size(); i += fields) {
        double x = aos[i + field_x], step = double(aos[i + field_vx]) * dt;
        result.x.push_back(x + step);
        result.magnitude.push_back(std::abs(x) + std::abs(step));
    }
    return result;
}

std::vector<double> distances(const std::vector<float> &aos, float3 centre)
{
    std::vector<double> result;
    for (std::size_t i = 0; i < aos.size(); i += fields)
        result.push_back(std::hypot(double(aos[i + field_x]) - centre.x,
                                    double(aos[i + field_y]) - centre.y,
                                    double(aos[i + field_z]) - centre.z));
    return result;
}

std::vector<float> to_soa(const std::vector<float> &aos)
{
    return transpose(aos, int(aos.size()) / fields, fields);
}

std::vector<float> to_aos(const std::vector<float> &soa)
{
    return transpose(soa, fields, int(soa.size()) / fields);
}

std::vector<float> transpose(const std::vector<float> &in, int rows, int cols)
{
    std::vector<float> out;
    for (int col = 0; col < cols; ++col)
        for (int row = 0; row < rows; ++row) out.push_back(in[std::size_t(row) * cols + col]);
    return out;
}

} // namespace oracle
