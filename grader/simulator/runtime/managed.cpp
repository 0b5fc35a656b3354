// Managed memory: prefetches, advice, and the state of both per page.
//
// Page placement does not change results here, but programs can query it, and kernel accesses to
// pages that were not on the device are counted.
#include "work.hpp"

#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace simulator::runtime {

namespace {

// Locations that are not set have cudaMemLocationTypeInvalid.
struct page_state {
    bool read_mostly = false;
    cudaMemLocation preferred = {}, prefetched = {};
    std::set<int> accessed_by; // devices; cudaCpuDeviceId: the host
};

// The state of all pages from each key to the next key.
std::map<address, page_state> &pages()
{
    static auto *const one = new std::map<address, page_state>;
    return *one;
}

struct range {
    address first, end;
};

// Prefetches and advice apply in whole pages, and only to managed memory: CUDA accepts other host
// memory only if cudaDevAttrPageableMemoryAccess is nonzero, and here it is 0.
cudaError_t managed_range(const void *p, std::size_t bytes, range &out)
{
    const memory &m = memory::instance();
    const address at = as_address(p);
    if (!bytes || !m.in_one_allocation(at, bytes) || m.find(at)->kind != memory_kind::managed)
        return cudaErrorInvalidValue;
    constexpr address page = memory::page_bytes;
    out = {at / page * page, (at + bytes + page - 1) / page * page};
    return cudaSuccess;
}

cudaError_t known_location(cudaMemLocation where)
{
    switch (where.type) {
    case cudaMemLocationTypeDevice:
        return valid_device(where.id) ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

int number_of(cudaMemLocation where)
{
    if (where.type == cudaMemLocationTypeInvalid) return cudaInvalidDeviceId;
    return where.type == cudaMemLocationTypeDevice ? where.id : cudaCpuDeviceId;
}

// Starts a new range of pages at `at`.
void split(address at)
{
    auto after = pages().upper_bound(at);
    const page_state here = after == pages().begin() ? page_state{} : std::prev(after)->second;
    pages().emplace(at, here);
}

template <typename function> void for_each_range(const range &r, function body)
{
    split(r.first);
    split(r.end);
    for (auto it = pages().find(r.first); it->first != r.end; ++it) body(it->second);
}

void advise(page_state &s, cudaMemoryAdvise advice, cudaMemLocation where)
{
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
        s.read_mostly = true;
        break;
    case cudaMemAdviseUnsetReadMostly:
        s.read_mostly = false;
        break;
    case cudaMemAdviseSetPreferredLocation:
        s.preferred = where;
        break;
    case cudaMemAdviseUnsetPreferredLocation:
        s.preferred = {};
        break;
    case cudaMemAdviseSetAccessedBy:
        s.accessed_by.insert(number_of(where));
        break;
    default:
        s.accessed_by.erase(number_of(where));
    }
}

bool same(cudaMemLocation a, cudaMemLocation b)
{
    return a.type == b.type && number_of(a) == number_of(b);
}

// Returns the common state of all pages in a range; a location only if all pages have the same.
page_state common(const range &r)
{
    std::optional<page_state> all;
    for_each_range(r, [&](const page_state &s) {
        if (!all) {
            all = s;
            return;
        }
        all->read_mostly = all->read_mostly && s.read_mostly;
        if (!same(all->preferred, s.preferred)) all->preferred = {};
        if (!same(all->prefetched, s.prefetched)) all->prefetched = {};
        std::erase_if(all->accessed_by, [&](int d) { return !s.accessed_by.count(d); });
    });
    return *all;
}

cudaError_t attribute_of(void *data, std::size_t bytes, cudaMemRangeAttribute attribute,
                         const void *p, std::size_t count)
{
    range r;
    if (!data) return cudaErrorInvalidValue;
    if (cudaError_t e = managed_range(p, count, r); e != cudaSuccess) return e;
    const page_state s = common(r);
    auto *out = static_cast<int *>(data);
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        if (!bytes || bytes % sizeof(int)) return cudaErrorInvalidValue;
        std::fill_n(out, bytes / sizeof(int), cudaInvalidDeviceId);
        std::copy_n(s.accessed_by.begin(), std::min(s.accessed_by.size(), bytes / sizeof(int)),
                    out);
        return cudaSuccess;
    }
    if (bytes != sizeof(int)) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        *out = s.read_mostly;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId:
        *out = number_of(s.preferred);
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeLastPrefetchLocationId:
        *out = number_of(s.prefetched);
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType:
        *out = s.preferred.type;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *out = s.prefetched.type;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

} // namespace
} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void *p, std::size_t bytes, cudaMemLocation where,
                                 unsigned flags, cudaStream_t stream)
{
    return call([&] {
        range r;
        if (!valid(stream)) return cudaErrorInvalidResourceHandle;
        if (flags) return cudaErrorInvalidValue;
        if (cudaError_t e = refuse_if_capturing(state_of(stream)); e != cudaSuccess) return e;
        if (cudaError_t e = managed_range(p, bytes, r); e != cudaSuccess) return e;
        if (cudaError_t e = known_location(where); e != cudaSuccess) return e;
        for_each_range(r, [&](page_state &s) { s.prefetched = where; });
        memory::instance().set_residency(r.first, r.end - r.first,
                                         where.type == cudaMemLocationTypeDevice);
        return cudaSuccess;
    });
}

cudaError_t cudaMemAdvise(const void *p, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation where)
{
    return call([&] {
        range r;
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
            return cudaErrorInvalidValue;
        if (cudaError_t e = managed_range(p, bytes, r); e != cudaSuccess) return e;
        // Read-mostly advice and the removal of a preferred location apply to all locations.
        const bool anywhere = advice == cudaMemAdviseSetReadMostly ||
                              advice == cudaMemAdviseUnsetReadMostly ||
                              advice == cudaMemAdviseUnsetPreferredLocation;
        const cudaError_t e = anywhere ? cudaSuccess : known_location(where);
        if (e == cudaSuccess) for_each_range(r, [&](page_state &s) { advise(s, advice, where); });
        return e;
    });
}

cudaError_t cudaMemRangeGetAttribute(void *data, std::size_t bytes, cudaMemRangeAttribute attribute,
                                     const void *p, std::size_t count)
{
    return call([&] { return attribute_of(data, bytes, attribute, p, count); });
}

cudaError_t cudaMemRangeGetAttributes(void **data, std::size_t *bytes,
                                      cudaMemRangeAttribute *attributes, std::size_t number,
                                      const void *p, std::size_t count)
{
    return call([&] {
        if (!data || !bytes || !attributes || !number) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < number; ++i)
            if (cudaError_t e = attribute_of(data[i], bytes[i], attributes[i], p, count);
                e != cudaSuccess)
                return e;
        return cudaSuccess;
    });
}

} // extern "C"
