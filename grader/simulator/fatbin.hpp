// Takes the PTX text out of the fat binaries that nvcc embeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace simulator {

// The PTX of one fat binary, for the newest architecture that is not beyond `architecture` (80 for
// compute 8.0). Throws std::runtime_error, saying what is wrong and how to compile instead, when
// the image is no fat binary, is cut short, or holds compressed, only newer, or no PTX.
std::string ptx_of_image(std::span<const std::byte> image, int architecture);

// The bytes from `image` to the end of the loaded segment of this process that holds it: the most
// that may be read when the image's own sizes lie. Empty when it is in no loaded program or
// library.
std::span<const std::byte> loaded_bytes(const void *image);

// What nvcc registers: one image, or, after a device link (-rdc=true), the images that went into
// the linked machine code, which hold the PTX.
struct fat_binary {
    bool linked = false;
    std::vector<std::span<const std::byte>> images; // of a loaded program
};
// From the wrapper that nvcc registers. Throws as above.
fat_binary images_of_wrapper(const void *wrapper);
// One text for each part that has PTX. Throws as above, and when no part has PTX.
std::vector<std::string> ptx_of(const fat_binary &binary, int architecture);

// One PTX text out of the texts of separately compiled parts: declarations of what another part
// defines are dropped, of equal weak definitions the first stays, line tables get distinct numbers.
std::string link_ptx(const std::vector<std::string> &texts);

} // namespace simulator
