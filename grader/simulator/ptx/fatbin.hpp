// Extracts PTX text from the fat binaries that nvcc embeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace simulator {

// Returns the PTX of one fat binary for the newest architecture up to `architecture` (80 for
// compute 8.0). Throws std::runtime_error, which says how to compile instead, if the image is no
// fat binary, is truncated, or contains compressed, only newer, or no PTX.
std::string ptx_of_image(std::span<const std::byte> image, int architecture);

// The bytes from `image` to the end of the loaded segment of this process that contains it: the
// bound for reads when the image's own sizes are wrong. Empty if it is in no loaded program or
// library.
std::span<const std::byte> loaded_bytes(const void *image);

// The images that nvcc registers: one, or, after a device link (-rdc=true), those that were linked
// into the machine code, which contain the PTX.
struct fat_binary {
    bool linked = false;
    std::vector<std::span<const std::byte>> images; // memory of a loaded program
};
// Reads the wrapper that nvcc registers. Throws as above.
fat_binary images_of_wrapper(const void *wrapper);
// Returns one text for each part that has PTX. Throws as above, and if no part has PTX.
std::vector<std::string> ptx_of(const fat_binary &binary, int architecture);

// Merges the PTX texts of separately compiled parts: declarations of names that another part
// defines are dropped, the first of equal weak definitions is kept, line tables are renumbered.
std::string link_ptx(const std::vector<std::string> &texts);

} // namespace simulator
