// Arrays, texture objects and surface objects.
//
// An array is pitched device memory that only copies, textures and surfaces reach.
#include "transfers.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/memory.hpp"
#include "simulator/machine/texture.hpp"

#include <algorithm>
#include <map>
#include <set>

// The type behind CUDA's opaque handle.
struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent; // in elements, as requested; 0 for absent dimensions
    unsigned flags;
    std::uint64_t element, pitch, rows, slices;
    void *start;
};

namespace simulator::runtime {

namespace {

constexpr std::uint64_t array_alignment = 256; // of every row, in bytes

std::set<cudaArray_t> &arrays()
{
    static auto *const one = new std::set<cudaArray_t>;
    return *one;
}

struct object {
    cudaResourceDesc resource;
    cudaTextureDesc desc;
};

std::map<cudaTextureObject_t, object> &objects()
{
    static auto *const one = new std::map<cudaTextureObject_t, object>;
    return *one;
}

// Accepts 1, 2 or 4 channels of equal size, as hardware does.
bool set_format(const cudaChannelFormatDesc &f, texture &t)
{
    const int bits[] = {f.x, f.y, f.z, f.w};
    int channels = 0;
    while (channels < 4 && bits[channels]) ++channels;
    for (int i = 0; i < 4; ++i)
        if (bits[i] != (i < channels ? f.x : 0)) return false;
    const bool real = f.f == cudaChannelFormatKindFloat;
    const bool size = f.x == 16 || f.x == 32 || (f.x == 8 && !real);
    if (channels == 0 || channels == 3 || !size) return false;
    if (!real && f.f != cudaChannelFormatKindSigned && f.f != cudaChannelFormatKindUnsigned)
        return false;
    t.channels = channels;
    t.channel_bytes = static_cast<std::uint32_t>(f.x) / 8;
    t.kind = real                                 ? channel_kind::floating_point
             : f.f == cudaChannelFormatKindSigned ? channel_kind::signed_integer
                                                  : channel_kind::unsigned_integer;
    return true;
}

cudaError_t create_array(cudaArray_t *out, const cudaChannelFormatDesc *format, cudaExtent size,
                         unsigned flags)
{
    texture t;
    if (!out || !format || size.width == 0) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!set_format(*format, t)) return cudaErrorInvalidChannelDescriptor;
    if (flags & (cudaArrayCubemap | cudaArraySparse | cudaArrayDeferredMapping))
        return not_supported("cube maps, sparse and deferred arrays");
    if ((flags & cudaArrayLayered) && size.depth == 0) return cudaErrorInvalidValue;
    cudaArray a{*format,
                size,
                flags,
                t.texel_bytes(),
                0,
                std::max<std::uint64_t>(size.height, 1),
                std::max<std::uint64_t>(size.depth, 1),
                nullptr};
    std::uint64_t bytes = 0;
    constexpr std::uint64_t max_elements = 1 << 20; // elements in any direction
    if (size.width > max_elements || a.rows > max_elements || a.slices > max_elements)
        return cudaErrorInvalidValue;
    a.pitch = (size.width * a.element + array_alignment - 1) / array_alignment * array_alignment;
    if (__builtin_mul_overflow(a.pitch * a.rows, a.slices, &bytes))
        return cudaErrorMemoryAllocation;
    if (cudaError_t e = allocate(&a.start, bytes, memory_kind::device, current_device());
        e != cudaSuccess)
        return e;
    *out = new cudaArray(a);
    arrays().insert(*out);
    return cudaSuccess;
}

address_mode address_mode_of(cudaTextureAddressMode m)
{
    return m == cudaAddressModeWrap     ? address_mode::wrap
           : m == cudaAddressModeMirror ? address_mode::mirror
           : m == cudaAddressModeBorder ? address_mode::border
                                        : address_mode::clamp;
}

cudaError_t set_array(cudaArray_t array, texture &t)
{
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    const cudaArray &a = *array;
    set_format(a.format, t);
    t.start = reinterpret_cast<address>(a.start);
    t.pitch = a.pitch;
    t.slice = a.pitch * a.rows;
    const bool layered = a.flags & cudaArrayLayered;
    t.layers = layered ? a.slices : 0;
    t.dimensions = a.extent.height == 0 ? 1 : a.extent.depth == 0 || layered ? 2 : 3;
    t.size[0] = a.extent.width;
    t.size[1] = a.rows;
    t.size[2] = layered ? 1 : a.slices;
    return cudaSuccess;
}

cudaError_t set_linear(const cudaResourceDesc &r, texture &t)
{
    const auto &l = r.res.linear;
    if (!set_format(l.desc, t)) return cudaErrorInvalidChannelDescriptor;
    t.start = reinterpret_cast<address>(l.devPtr);
    t.buffer = true;
    t.size[0] = l.sizeInBytes / t.texel_bytes();
    if (t.start % 512) return cudaErrorInvalidValue; // cudaDeviceProp::textureAlignment
    return t.size[0] && memory::instance().in_one_allocation(t.start, l.sizeInBytes)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t set_pitch2d(const cudaResourceDesc &r, texture &t)
{
    const auto &p = r.res.pitch2D;
    if (!set_format(p.desc, t)) return cudaErrorInvalidChannelDescriptor;
    t.start = reinterpret_cast<address>(p.devPtr);
    t.dimensions = 2;
    t.size[0] = p.width;
    t.size[1] = p.height;
    t.pitch = p.pitchInBytes;
    std::uint64_t bytes = 0;
    const std::uint64_t row = p.width * t.texel_bytes();
    if (t.start % 512 || p.pitchInBytes % 32) return cudaErrorInvalidValue;
    if (!p.width || !p.height || p.width > 1 << 20 || row > p.pitchInBytes ||
        __builtin_mul_overflow(p.pitchInBytes, p.height - 1, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes))
        return cudaErrorInvalidValue;
    return memory::instance().in_one_allocation(t.start, bytes) ? cudaSuccess
                                                                : cudaErrorInvalidValue;
}

cudaError_t set_resource(const cudaResourceDesc &r, texture &t)
{
    switch (r.resType) {
    case cudaResourceTypeArray:
        return set_array(r.res.array.array, t);
    case cudaResourceTypeLinear:
        return set_linear(r, t);
    case cudaResourceTypePitch2D:
        return set_pitch2d(r, t);
    case cudaResourceTypeMipmappedArray:
        return not_supported("textures of mipmapped arrays");
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t set_read_mode(const cudaTextureDesc &desc, texture &t)
{
    if (desc.sRGB) return not_supported("sRGB textures");
    for (int d = 0; d < 3; ++d) t.address_modes[d] = address_mode_of(desc.addressMode[d]);
    t.linear_filtering = desc.filterMode == cudaFilterModeLinear;
    t.normalised_coordinates = desc.normalizedCoords != 0;
    std::copy_n(desc.borderColor, 4, t.border.begin());
    const bool integer = t.kind != channel_kind::floating_point;
    t.normalised_float = integer && desc.readMode == cudaReadModeNormalizedFloat;
    // Only 8- and 16-bit integers convert to fractions; only values with fractions can be
    // filtered.
    if (t.normalised_float && t.channel_bytes == 4) return cudaErrorInvalidNormSetting;
    if (t.linear_filtering && integer && !t.normalised_float) return cudaErrorInvalidFilterSetting;
    return cudaSuccess;
}

cudaError_t create_texture(cudaTextureObject_t *out, const cudaResourceDesc *r,
                           const cudaTextureDesc *desc, const cudaResourceViewDesc *view)
{
    if (!out || !r || !desc) return cudaErrorInvalidValue;
    if (view) return not_supported("resource views of textures");
    texture t;
    if (cudaError_t e = set_resource(*r, t); e != cudaSuccess) return e;
    if (cudaError_t e = set_read_mode(*desc, t); e != cudaSuccess) return e;
    *out = add_texture(t);
    // The host may pass information to kernels by a texture: the 16 bytes of its border colour
    // count as fill values, and its other settings as a command.
    transfer_counts &counts = counters::instance().transfers;
    ++counts.commands;
    counts.fill_values += sizeof desc->borderColor;
    objects()[*out] = {*r, *desc};
    return cudaSuccess;
}

std::map<cudaSurfaceObject_t, cudaResourceDesc> &surfaces()
{
    static auto *const one = new std::map<cudaSurfaceObject_t, cudaResourceDesc>;
    return *one;
}

cudaError_t create_surface(cudaSurfaceObject_t *out, const cudaResourceDesc *r)
{
    if (!out || !r) return cudaErrorInvalidValue;
    if (r->resType != cudaResourceTypeArray) return cudaErrorInvalidChannelDescriptor;
    texture t;
    if (cudaError_t e = set_array(r->res.array.array, t); e != cudaSuccess) return e;
    if (!(r->res.array.array->flags & cudaArraySurfaceLoadStore))
        return fail_because(cudaErrorInvalidValue,
                            "the array was made without cudaArraySurfaceLoadStore");
    t.surface = true;
    *out = add_texture(t);
    ++counters::instance().transfers.commands;
    surfaces()[*out] = *r;
    return cudaSuccess;
}

// "3 rows of 5 bytes"
std::string rows_text(std::uint64_t bytes, std::uint64_t rows)
{
    return std::to_string(rows) + (rows == 1 ? " row of " : " rows of ") + std::to_string(bytes) +
           (bytes == 1 ? " byte" : " bytes");
}

// Copies planes between memory and arrays; `x` and `width` are in bytes.
cudaError_t copy_plane(const char *function, bool to_array, cudaArray_t array, std::size_t x,
                       std::size_t y, const void *memory, std::size_t pitch, std::size_t width,
                       std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    return in_stream(stream, [&] {
        if (!is_array(array)) return cudaErrorInvalidResourceHandle;
        const box size{width, height};
        if (size.empty()) return cudaSuccess;
        std::byte *at = nullptr;
        layout rows;
        if (cudaError_t e = place_in(array, {x, y, 0}, size, at, rows); e != cudaSuccess)
            return fail_because(
                e, rows_text(x + width, y + height) + " do not fit the array, which has " +
                       rows_text(array->extent.width * array->element, array->rows));
        copy_request r{function, at, rows, memory, {pitch}, size, kind};
        if (!to_array) r = {function, const_cast<void *>(memory), {pitch}, at, rows, size, kind};
        return copy(r, stream, end);
    });
}

} // namespace

std::size_t created_textures() { return objects().size(); }

bool is_array(cudaArray_t a) { return arrays().count(a) != 0; }
std::uint64_t element_bytes(cudaArray_t a) { return a->element; }

cudaError_t place_in(cudaArray_t array, const cudaPos &from, const box &size, std::byte *&at,
                     layout &rows)
{
    if (!is_array(array)) return cudaErrorInvalidResourceHandle;
    const cudaArray &a = *array;
    const auto fits = [](std::uint64_t first, std::uint64_t n, std::uint64_t all) {
        return first <= all && n <= all - first;
    };
    if (!fits(from.x, size.width, a.extent.width * a.element) ||
        !fits(from.y, size.height, a.rows) || !fits(from.z, size.depth, a.slices))
        return cudaErrorInvalidValue;
    rows = {a.pitch, a.pitch * a.rows};
    at = static_cast<std::byte *>(a.start) + from.x + from.y * rows.pitch + from.z * rows.slice;
    return cudaSuccess;
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t *out, const cudaChannelFormatDesc *format,
                            std::size_t width, std::size_t height, unsigned flags)
{
    return call([&] { return create_array(out, format, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const cudaChannelFormatDesc *format,
                              cudaExtent size, unsigned flags)
{
    return call([&] { return create_array(out, format, size, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t a)
{
    if (!a) return cudaSuccess;
    void *start = nullptr;
    const cudaError_t e = call([&] {
        if (!is_array(a)) return cudaErrorInvalidResourceHandle;
        start = a->start;
        arrays().erase(a);
        delete a;
        return cudaSuccess;
    });
    return e != cudaSuccess ? e : cudaFree(start);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *size, unsigned *flags,
                             cudaArray_t a)
{
    return call([&] {
        if (!is_array(a)) return cudaErrorInvalidResourceHandle;
        if (format) *format = a->format;
        if (size) *size = a->extent;
        if (flags) *flags = a->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t a)
{
    return format ? cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(a))
                  : set_last_error(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind)
{
    return copy_plane("cudaMemcpy2DToArray", true, to, x, y, from, pitch, width, height, kind,
                      nullptr, until::copied);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_plane("cudaMemcpy2DToArrayAsync", true, to, x, y, from, pitch, width, height, kind,
                      stream, until::queued);
}

cudaError_t cudaMemcpy2DFromArray(void *to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind)
{
    return copy_plane("cudaMemcpy2DFromArray", false, const_cast<cudaArray_t>(from), x, y, to,
                      pitch, width, height, kind, nullptr, until::copied);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_plane("cudaMemcpy2DFromArrayAsync", false, const_cast<cudaArray_t>(from), x, y, to,
                      pitch, width, height, kind, stream, until::queued);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *desc, const cudaResourceViewDesc *view)
{
    return call([&] { return create_texture(out, resource, desc, view); });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t)
{
    return call([&] {
        if (t == 0) return cudaSuccess;
        for (int d = 0; d < device_count(); ++d) wait_for_device("cudaDestroyTextureObject", d);
        return objects().erase(t) && remove_texture(t) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *out, cudaTextureObject_t t)
{
    return call([&] {
        auto it = objects().find(t);
        if (!out || it == objects().end()) return cudaErrorInvalidValue;
        *out = it->second.resource;
        return cudaSuccess;
    });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const cudaResourceDesc *resource)
{
    return call([&] { return create_surface(out, resource); });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s)
{
    return call([&] {
        if (s == 0) return cudaSuccess;
        for (int d = 0; d < device_count(); ++d) wait_for_device("cudaDestroySurfaceObject", d);
        return surfaces().erase(s) && remove_texture(s) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *out, cudaSurfaceObject_t s)
{
    return call([&] {
        auto it = surfaces().find(s);
        if (!out || it == surfaces().end()) return cudaErrorInvalidValue;
        *out = it->second;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const cudaChannelFormatDesc *format,
                                                 int device)
{
    return call([&] {
        if (!out || !format) return cudaErrorInvalidValue;
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        *out = texels_of_linear_memory;
        return cudaSuccess;
    });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *out, cudaTextureObject_t t)
{
    return call([&] {
        auto it = objects().find(t);
        if (!out || it == objects().end()) return cudaErrorInvalidValue;
        *out = it->second.desc;
        return cudaSuccess;
    });
}

} // extern "C"
