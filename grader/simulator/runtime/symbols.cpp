// Copies to and from variables in device memory, which host code names by a symbol.
#include "transfers.hpp"

namespace simulator::runtime {

namespace {

// The address of `bytes` bytes at `offset` within a variable.
cudaError_t part_of(const void *symbol, std::size_t bytes, std::size_t offset, void *&out)
{
    module::variable v;
    if (cudaError_t e = resolve_symbol(symbol, v); e != cudaSuccess) return e;
    if (offset > v.bytes || bytes > v.bytes - offset)
        return fail_because(cudaErrorInvalidValue,
                            "it copies " + std::to_string(bytes) + " bytes from byte " +
                                std::to_string(offset) + " of a variable that has " +
                                std::to_string(v.bytes));
    out = reinterpret_cast<void *>(v.start + offset);
    return cudaSuccess;
}

// Copies between a variable and other memory, which is the source if `to_symbol` is true.
cudaError_t copy_symbol(const char *function, bool to_symbol, const void *symbol, const void *other,
                        std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                        cudaStream_t stream, until end)
{
    return in_stream(stream, [&] {
        if (kind == cudaMemcpyHostToHost ||
            kind == (to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
            return fail_because(cudaErrorInvalidMemcpyDirection, "a symbol is in device memory");
        void *part = nullptr, *memory = const_cast<void *>(other);
        if (cudaError_t e = part_of(symbol, bytes, offset, part); e != cudaSuccess) return e;
        return copy(to_symbol ? contiguous(function, part, memory, bytes, kind)
                              : contiguous(function, memory, part, bytes, kind),
                    stream, end);
    });
}

} // namespace
} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyToSymbol", true, symbol, from, bytes, offset, kind, nullptr,
                       until::copied);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyToSymbolAsync", true, symbol, from, bytes, offset, kind, stream,
                       until::queued);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyFromSymbol", false, symbol, to, bytes, offset, kind, nullptr,
                       until::copied);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyFromSymbolAsync", false, symbol, to, bytes, offset, kind, stream,
                       until::queued);
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    return call([&] { return out ? part_of(symbol, 0, 0, *out) : cudaErrorInvalidValue; });
}

cudaError_t cudaGetSymbolSize(std::size_t *out, const void *symbol)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        module::variable v;
        if (cudaError_t e = resolve_symbol(symbol, v); e != cudaSuccess) return e;
        *out = v.bytes;
        return cudaSuccess;
    });
}

} // extern "C"
