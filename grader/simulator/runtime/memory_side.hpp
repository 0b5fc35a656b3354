// One side of a copy, or the target of a fill: the memory behind a pointer, and the rows of a box.
#pragma once

#include "transfers.hpp"

namespace simulator::runtime {

// One side of a copy: its bytes and their properties.
struct side {
    std::byte *bytes = nullptr;     // usable only by host() if there is no shadow
    address start = 0;              // address as seen by programs
    std::uint8_t *shadow = nullptr; // null for ordinary host memory
    bool host = true;               // on the host side of the link
    int device = -1;                // owning device, or -1
    bool pageable = false;          // ordinary host memory, not registered
    bool managed = false;
};

enum class expected_side { host, device, any };

// Finds the memory behind a pointer. Fails if it is on the wrong side, freed, or not inside one
// allocation.
cudaError_t look_up(const char *function, const void *p, std::uint64_t bytes,
                    expected_side expected, bool write, side &out);

// Remembers an array in ordinary host memory by its name, until it is forgotten: a copy that begins
// in it and reads past its end is a finding.
void name_host_array(const void *at, std::uint64_t bytes, const char *name);
void forget_host_arrays(const void *at, std::uint64_t bytes); // those that begin in this range

// Distance in bytes from the first to the last byte of a box; false if it or the size overflows.
bool extent_of(const box &, const layout &, std::uint64_t &bytes);
bool rows_overlap(const box &, const layout &);

template <typename function> void each_row(const box &b, function body)
{
    for (std::uint64_t z = 0; z < b.depth; ++z)
        for (std::uint64_t y = 0; y < b.height; ++y) body(y, z);
}

// The start of one side of a 3-D copy or fill, and the layout of its rows.
cudaError_t place_of(const cudaPitchedPtr &p, const cudaPos &from, std::byte *&at, layout &rows);

} // namespace simulator::runtime
