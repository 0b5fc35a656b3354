// Reads fat binary containers: a header, then entries of PTX text and machine code (cubins), each
// with its own header.
#include "fatbin.hpp"

#include <cstdint>
#include <cstring>
#include <fatbinary_section.h>
#include <link.h>
#include <optional>
#include <stdexcept>

namespace simulator {

namespace {

constexpr std::uint32_t image_magic = 0xBA55ED50;
constexpr std::uint64_t image_header = 16, smallest_entry_header = 64;
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t compressed_flags = 0x2000 | 0x8000; // LZ4, Zstandard
constexpr const char *advice =
    "; compile with -gencode=arch=compute_80,code=compute_80 and -no-compress";

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error("fat binary: " + what); }

template <typename T> T read(std::span<const std::byte> bytes, std::uint64_t at)
{
    T value;
    if (at > bytes.size() || bytes.size() - at < sizeof value) fail("cut short in a header");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

struct entry {
    std::uint16_t kind;
    int architecture;
    bool compressed;
    std::span<const std::byte> payload;
    std::uint64_t next;
};

entry read_entry(std::span<const std::byte> body, std::uint64_t at)
{
    const auto header = read<std::uint32_t>(body, at + 4);
    const auto size = read<std::uint64_t>(body, at + 8);
    if (header < smallest_entry_header || header > body.size() - at)
        fail("an entry's header has an impossible size (" + std::to_string(header) + ")");
    if (size > body.size() - at - header) fail("cut short inside an entry");
    const auto compressed_size = read<std::uint32_t>(body, at + 16);
    const auto flags = read<std::uint64_t>(body, at + 40);
    return {read<std::uint16_t>(body, at), static_cast<int>(read<std::uint32_t>(body, at + 28)),
            compressed_size != 0 || (flags & compressed_flags) != 0,
            body.subspan(at + header, size), at + header + size};
}

std::string text_of(std::span<const std::byte> payload)
{
    std::string text(reinterpret_cast<const char *>(payload.data()), payload.size());
    // The text is padded with newlines before and null bytes after it.
    text.resize(text.find_last_not_of('\0') + 1);
    if (text.find(".version") == std::string::npos) fail("an entry marked as PTX is not PTX text");
    return text;
}

struct image_ptx {
    std::optional<std::string> text;
    std::string why_not;
};

image_ptx find_ptx(std::span<const std::byte> image, int architecture)
{
    if (read<std::uint32_t>(image, 0) != image_magic) fail("wrong magic number: not a fat binary");
    const std::uint64_t header = read<std::uint16_t>(image, 6);
    const auto size = read<std::uint64_t>(image, 8);
    if (header < image_header || header > image.size()) fail("the header has an impossible size");
    if (size > image.size() - header) fail("cut short: its size says more than there is");
    const auto body = image.subspan(header, size);

    std::optional<entry> best;
    int newer = 0;
    for (std::uint64_t at = 0; at < body.size();) {
        const entry e = read_entry(body, at);
        at = e.next;
        if (e.kind != kind_ptx) continue;
        if (e.architecture > architecture)
            newer = e.architecture;
        else if (!best || e.architecture > best->architecture)
            best = e;
    }
    if (best && best->compressed) return {{}, std::string("its PTX is compressed") + advice};
    if (best) return {text_of(best->payload), {}};
    if (newer)
        return {{},
                "its PTX is for compute_" + std::to_string(newer) +
                    ", newer than the simulated device" + advice};
    return {{}, std::string("it holds machine code only, no PTX") + advice};
}

// Cuts the image off from the rest of its segment; unchanged if its header is invalid.
std::span<const std::byte> whole_image(std::span<const std::byte> image)
{
    if (image.size() < image_header) return image;
    const std::uint64_t header = read<std::uint16_t>(image, 6),
                        size = read<std::uint64_t>(image, 8);
    const bool fits = header <= image.size() && size <= image.size() - header;
    return fits ? image.first(header + size) : image;
}

} // namespace

std::string ptx_of_image(std::span<const std::byte> image, int architecture)
{
    image_ptx found = find_ptx(image, architecture);
    if (!found.text) fail(found.why_not);
    return std::move(*found.text);
}

std::span<const std::byte> loaded_bytes(const void *image)
{
    struct query {
        std::uintptr_t at, end;
    } q{reinterpret_cast<std::uintptr_t>(image), 0};
    dl_iterate_phdr(
        [](dl_phdr_info *object, std::size_t, void *data) {
            auto &q = *static_cast<query *>(data);
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto &segment = object->dlpi_phdr[i];
                const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
                if (segment.p_type == PT_LOAD && q.at >= start && q.at - start < segment.p_memsz)
                    q.end = start + segment.p_memsz;
            }
            return q.end != 0 ? 1 : 0;
        },
        &q);
    if (q.end == 0) return {};
    return {static_cast<const std::byte *>(image), q.end - q.at};
}

fat_binary images_of_wrapper(const void *wrapper)
{
    const auto bytes = loaded_bytes(wrapper);
    if (bytes.size() < sizeof(__fatBinC_Wrapper_t)) fail("its wrapper is not in a loaded program");
    const auto w = read<__fatBinC_Wrapper_t>(bytes, 0);
    if (w.magic != FATBINC_MAGIC) fail("wrong magic number in its wrapper");
    if (w.version == FATBINC_VERSION) return {false, {whole_image(loaded_bytes(w.data))}};
    if (w.version != FATBINC_LINK_VERSION)
        fail("unknown version " + std::to_string(w.version) + " of its wrapper");

    fat_binary result{true, {}};
    const auto list = loaded_bytes(w.filename_or_fatbins);
    for (std::uint64_t i = 0;; ++i) {
        const auto *part = read<const void *>(list, i * sizeof(void *));
        if (!part) return result;
        result.images.push_back(whole_image(loaded_bytes(part)));
    }
}

std::vector<std::string> ptx_of(const fat_binary &binary, int architecture)
{
    if (!binary.linked) {
        std::string text = ptx_of_image(binary.images.at(0), architecture);
        if (text.find("__cudaCDP2") != text.npos)
            fail("its kernels call the CUDA device runtime, which needs a device link: -rdc=true");
        return {std::move(text)};
    }
    std::vector<std::string> texts;
    std::string why_not = "no linked part has PTX";
    for (const auto image : binary.images) {
        image_ptx found = find_ptx(image, architecture);
        if (found.text)
            texts.push_back(std::move(*found.text));
        else
            why_not = found.why_not;
    }
    if (texts.empty()) fail(why_not);
    return texts;
}

} // namespace simulator
