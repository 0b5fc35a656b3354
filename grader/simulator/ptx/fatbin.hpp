// Extracts PTX text from the fat binaries that nvcc embeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace simulator {

// Returns the PTX of one fat binary for the newest architecture up to `architecture` (80 for
// compute 8.0). Throws std::runtime_error if the image is no fat binary or is truncated, and, with
// words on how to compile instead, if that PTX is compressed or there is only newer PTX or none.
std::string ptx_of_image(std::span<const std::byte> image, int architecture);

// The bytes from `image` to the end of the loaded segment of this process that contains it: the
// bound for reads when the image's own sizes are wrong. Empty if it is in no loaded program or
// library.
std::span<const std::byte> loaded_bytes(const void *image);

// The images that nvcc registers: one, or, after a device link (-rdc=true), those that were linked
// into the machine code, which contain the PTX.
struct fat_binary {
    bool linked = false;
    std::vector<std::span<const std::byte>> images; // not owned
};
// Reads the wrapper that nvcc registers; the images are memory of the loaded program. Throws
// std::runtime_error if it is no wrapper.
fat_binary images_of_wrapper(const void *wrapper);
// Returns one text for each linked part that has PTX for `architecture`; throws as above if none
// has, or if an image is damaged. A binary without a device link must have PTX that needs none.
std::vector<std::string> ptx_of(const fat_binary &binary, int architecture);

// Merges the PTX texts of separately compiled parts: the first definition of a name is kept, a
// declaration of a function becomes a prototype, one of a variable that a part defines is dropped,
// local names that an earlier part defines are changed, and line tables are renumbered. Throws
// std::runtime_error if a visible function was defined before, or a text ends too early.
std::string link_ptx(const std::vector<std::string> &texts);

} // namespace simulator
