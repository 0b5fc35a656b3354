// Memory pools for cudaMallocAsync, and their usage statistics.
//
// Addresses are never reused, so a pool keeps no memory; it only counts its reservation.
#include "simulator/runtime/work.hpp"

#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <map>
#include <set>

// The type behind CUDA's opaque handle.
struct CUmemPoolHandle_st {
    int device = 0;
    std::uint64_t max_bytes = 0; // 0: unlimited
    std::uint64_t release_threshold = 0;
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    std::map<cudaMemPoolAttr, int> reuse = {{cudaMemPoolReuseFollowEventDependencies, 1},
                                            {cudaMemPoolReuseAllowOpportunistic, 1},
                                            {cudaMemPoolReuseAllowInternalDependencies, 1}};
    std::set<int> accessible_from; // peer devices whose kernels may use its memory
    bool destroyed = false;        // it is deleted with its last allocation
};

namespace simulator::runtime {

namespace {

struct pools {
    std::set<cudaMemPool_t> all;
    std::map<int, cudaMemPool_t> defaults, current; // by device
    std::map<address, cudaMemPool_t> of;            // the pool of each live allocation
};

pools &live()
{
    // Never destroyed: objects that outlive main may still free their memory.
    static auto *const one = new pools;
    return *one;
}

cudaMemPool_t default_pool(int device)
{
    cudaMemPool_t &pool = live().defaults[device];
    if (!pool) {
        pool = new CUmemPoolHandle_st;
        pool->device = device;
        live().all.insert(pool);
    }
    return pool;
}

cudaMemPool_t current_pool(int device)
{
    auto it = live().current.find(device);
    return it == live().current.end() ? default_pool(device) : it->second;
}

bool exists(cudaMemPool_t pool) { return live().all.count(pool) && !pool->destroyed; }

void remove_when_empty(cudaMemPool_t pool)
{
    if (!pool->destroyed || pool->used) return;
    live().all.erase(pool);
    delete pool;
}

cudaError_t allocate_from(cudaMemPool_t pool, void **out, std::size_t bytes, cudaStream_t stream)
{
    if (state_of(stream).active_capture)
        return not_supported("cudaMallocAsync in a stream that captures");
    if (!out) return cudaErrorInvalidValue;
    if (pool->max_bytes && bytes > pool->max_bytes - pool->used) return cudaErrorMemoryAllocation;
    if (cudaError_t e = allocate(out, bytes, memory_kind::device, pool->device);
        e != cudaSuccess || !*out)
        return e;
    const auto start = reinterpret_cast<address>(*out);
    live().of[start] = pool;
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    pool->reserved = std::max(pool->reserved, pool->used);
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    // Memory that peer devices may use carries no device bit, so every device can use it.
    if (!pool->accessible_from.empty())
        memory::instance().mark(start, bytes, 0, device_bit(pool->device));
    return cudaSuccess;
}

std::uint64_t *statistic_of(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        return &pool->release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
        return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh:
        return &pool->reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
        return &pool->used;
    case cudaMemPoolAttrUsedMemHigh:
        return &pool->used_high;
    default:
        return nullptr;
    }
}

cudaError_t set_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, const void *value)
{
    if (auto it = pool->reuse.find(attribute); it != pool->reuse.end()) {
        it->second = *static_cast<const int *>(value) != 0;
        return cudaSuccess;
    }
    const auto requested = *static_cast<const std::uint64_t *>(value);
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        pool->release_threshold = requested;
        return cudaSuccess;
    }
    // High-water marks can only be reset, to the current usage.
    const bool high =
        attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (!high || requested != 0) return cudaErrorInvalidValue;
    *statistic_of(pool, attribute) =
        attribute == cudaMemPoolAttrUsedMemHigh ? pool->used : pool->reserved;
    return cudaSuccess;
}

cudaError_t get_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (auto it = pool->reuse.find(attribute); it != pool->reuse.end()) {
        *static_cast<int *>(value) = it->second;
        return cudaSuccess;
    }
    const std::uint64_t *statistic = statistic_of(pool, attribute);
    if (!statistic) return cudaErrorInvalidValue;
    *static_cast<std::uint64_t *>(value) = *statistic;
    return cudaSuccess;
}

void set_device_access(cudaMemPool_t pool, int device, bool allowed)
{
    if (allowed)
        pool->accessible_from.insert(device);
    else
        pool->accessible_from.erase(device);
    memory &m = memory::instance();
    const std::uint8_t bit = settings().track_owning_device ? device_bit(pool->device) : 0;
    for (const auto &[start, of] : live().of)
        if (of == pool) {
            const std::uint8_t set = pool->accessible_from.empty() ? bit : 0;
            m.mark(start, m.find(start)->bytes, set, static_cast<std::uint8_t>(bit & ~set));
        }
}

cudaError_t set_access(cudaMemPool_t pool, const cudaMemAccessDesc &d)
{
    if (d.location.type != cudaMemLocationTypeDevice || !valid_device(d.location.id))
        return cudaErrorInvalidValue;
    const bool allowed = d.flags == cudaMemAccessFlagsProtReadWrite;
    if (!allowed && d.flags != cudaMemAccessFlagsProtNone) return cudaErrorInvalidValue;
    if (d.location.id == pool->device) return allowed ? cudaSuccess : cudaErrorInvalidValue;
    if (allowed && !can_be_peer(d.location.id, pool->device)) return cudaErrorInvalidDevice;
    set_device_access(pool, d.location.id, allowed);
    return cudaSuccess;
}

cudaError_t create(cudaMemPool_t *out, const cudaMemPoolProps &p)
{
    if (p.allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (p.handleTypes != cudaMemHandleTypeNone)
        return not_supported("memory pools that processes share");
    if (p.location.type != cudaMemLocationTypeDevice)
        return not_supported("memory pools of the host");
    if (!valid_device(p.location.id)) return cudaErrorInvalidValue;
    *out = new CUmemPoolHandle_st;
    (*out)->device = p.location.id;
    (*out)->max_bytes = p.maxSize;
    live().all.insert(*out);
    return cudaSuccess;
}

template <typename function> cudaError_t with_pool(cudaMemPool_t pool, function body)
{
    return call([&] { return exists(pool) ? body() : cudaErrorInvalidValue; });
}

} // namespace

void revoke_pool_access()
{
    for (cudaMemPool_t pool : live().all)
        for (const int device : std::set<int>(pool->accessible_from))
            if (!can_be_peer(device, pool->device)) set_device_access(pool, device, false);
}

void remove_from_pool(address start, std::uint64_t bytes)
{
    auto it = live().of.find(start);
    if (it == live().of.end()) return;
    cudaMemPool_t pool = it->second;
    live().of.erase(it);
    pool->used -= bytes;
    pool->reserved = std::max(pool->used, std::min(pool->reserved, pool->release_threshold));
    remove_when_empty(pool);
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMallocAsync(void **out, std::size_t bytes, cudaStream_t stream)
{
    return in_stream(stream, [&] {
        return allocate_from(current_pool(state_of(stream).device), out, bytes, stream);
    });
}

cudaError_t cudaMallocFromPoolAsync(void **out, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    return with_pool(pool, [&] {
        return valid(stream) ? allocate_from(pool, out, bytes, stream)
                             : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        *out = default_pool(device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        *out = current_pool(device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return with_pool(pool, [&] {
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        if (pool->device != device) return cudaErrorInvalidValue;
        live().current[device] = pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *p)
{
    return call([&] { return out && p ? create(out, *p) : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return with_pool(pool, [&] {
        if (live().defaults[pool->device] == pool) return cudaErrorInvalidValue;
        if (current_pool(pool->device) == pool) live().current.erase(pool->device);
        pool->destroyed = true;
        remove_when_empty(pool);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep)
{
    return with_pool(pool, [&] {
        pool->reserved = std::max(pool->used, std::min<std::uint64_t>(pool->reserved, keep));
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    return with_pool(pool, [&] {
        return value ? set_attribute(pool, attribute, value) : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    return with_pool(pool, [&] {
        return value ? get_attribute(pool, attribute, value) : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list,
                                 std::size_t count)
{
    return with_pool(pool, [&] {
        if (count && !list) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (cudaError_t e = set_access(pool, list[i]); e != cudaSuccess) return e;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *where)
{
    return with_pool(pool, [&] {
        if (!flags || !where || where->type != cudaMemLocationTypeDevice ||
            !valid_device(where->id))
            return cudaErrorInvalidValue;
        const bool allowed = where->id == pool->device || pool->accessible_from.count(where->id);
        *flags = allowed ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
        return cudaSuccess;
    });
}

} // extern "C"
