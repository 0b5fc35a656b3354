// Extracts PTX text from the fat binaries that nvcc embeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace simulator {

// Returns the PTX of one fat binary for the newest architecture up to `architecture` (80:
// compute_80). Throws std::runtime_error if the image is no fat binary or is truncated, and, with
// advice on how to compile instead, if that PTX is compressed or there is only newer PTX or none.
std::string ptx_of_image(std::span<const std::byte> image, int architecture);

// The bytes from `image` to the end of the loaded segment of this process that contains it: the
// bound for reads when the image's own sizes are wrong. Empty if it is in no loaded program or
// library.
std::span<const std::byte> loaded_bytes(const void *image);

// The images that nvcc registers: one or, after a device link (-rdc=true), those of the linked
// objects, which contain the PTX.
struct fat_binary {
    bool linked = false;
    std::vector<std::span<const std::byte>> images; // not owned
};
// Reads the wrapper that nvcc registers; the images are memory of the loaded program. Throws
// std::runtime_error if it is no wrapper.
fat_binary images_of_wrapper(const void *wrapper);
// Returns one text for each linked object that has PTX for `architecture`; throws as above if none
// has, or if an image is damaged. PTX without a device link must not call the device runtime.
std::vector<std::string> ptx_of(const fat_binary &binary, int architecture);

} // namespace simulator
