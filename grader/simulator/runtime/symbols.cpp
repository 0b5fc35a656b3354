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

cudaError_t to_symbol(const char *function, const void *symbol, const void *from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return fail_because(cudaErrorInvalidMemcpyDirection, "a symbol is in device memory");
    void *to = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, to); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
}

cudaError_t from_symbol(const char *function, void *to, const void *symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, until end)
{
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return fail_because(cudaErrorInvalidMemcpyDirection, "a symbol is in device memory");
    void *from = nullptr;
    if (cudaError_t e = part_of(symbol, bytes, offset, from); e != cudaSuccess) return e;
    return copy(linear(function, to, from, bytes, kind), stream, end);
}

} // namespace
} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind)
{
    return call([&] {
        return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr,
                         until::copied);
    });
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream,
                         until::queued);
    });
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind)
{
    return call([&] {
        return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, nullptr,
                           until::copied);
    });
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return in(stream, [&] {
        return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream,
                           until::queued);
    });
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
