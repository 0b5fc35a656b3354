// Devices: their number, the current one, their settings, and access between them.
#include "work.hpp"

#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace simulator::runtime {

namespace {

constexpr int max_devices = 16;

// Shared by all devices; the hardware keeps limits and flags per device.
struct device_settings {
    std::set<std::pair<int, int>> peers; // (device, peer) with access enabled
    std::uint64_t closed_peers = 0;      // bit 8 * device + peer: access is impossible
    std::map<cudaLimit, std::size_t> limits{
        {cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 1 << 20},
        {cudaLimitMallocHeapSize, 8 << 20},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
        {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 0}};
    unsigned flags = 0;
    cudaFuncCache cache = cudaFuncCachePreferNone;
};

device_settings &device_state()
{
    static auto *const one = new device_settings;
    return *one;
}

std::string bus_id(int device)
{
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(device + 1) & 0xff);
    return text;
}

} // namespace

int device_count()
{
    static const int count = [] {
        const char *text = std::getenv("SIMULATOR_DEVICES");
        if (!text) return 1;
        char *end = nullptr;
        const long n = std::strtol(text, &end, 10);
        settings().track_owning_device = n > 1 && n <= max_devices;
        if (*text && !*end && n >= 0 && n <= max_devices) return static_cast<int>(n);
        complain("SIMULATOR_DEVICES is \"" + std::string(text) +
                 "\", not a number from 0 to 16; taking 1 device");
        return 1;
    }();
    return count;
}

bool can_be_peer(int device, int peer)
{
    const bool in_mask = device < 8 && peer < 8;
    return device != peer &&
           !(in_mask && (device_state().closed_peers >> (8 * device + peer) & 1) != 0);
}

void close_peers(std::uint64_t pairs)
{
    device_state().closed_peers = pairs;
    std::erase_if(device_state().peers,
                  [](const auto &p) { return !can_be_peer(p.first, p.second); });
    revoke_pool_access();
}

bool copies_directly(int from, int to)
{
    return device_state().peers.count({from, to}) || device_state().peers.count({to, from});
}

std::uint8_t inaccessible_memory(int device)
{
    std::uint8_t closed = 0, open = device_bit(device);
    for (int d = 0; d < device_count(); ++d)
        (d == device || device_state().peers.count({device, d}) ? open : closed) |= device_bit(d);
    return closed & static_cast<std::uint8_t>(~open);
}

bool valid_device(int device) { return device >= 0 && device < device_count(); }

int current_device() { return this_thread().device; }

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
    return call([&] {
        if (!count) return cudaErrorInvalidValue;
        *count = device_count();
        return *count ? cudaSuccess : cudaErrorNoDevice;
    });
}

cudaError_t cudaSetDevice(int device)
{
    return call([&] {
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        this_thread().device = device;
        return cudaSuccess;
    });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned)
{
    return call([&] { return valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int *device)
{
    return call([&] {
        if (!device) return cudaErrorInvalidValue;
        *device = current_device();
        return cudaSuccess;
    });
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    return call([&] {
        if (flags & ~unsigned{cudaDeviceMask}) return cudaErrorInvalidValue;
        device_state().flags = flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    return call([&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = device_state().flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize()
{
    return call([] {
        if (cudaError_t e = refuse_while_capturing(); e != cudaSuccess) return e;
        wait_for_device("cudaDeviceSynchronize", current_device());
        return surface_sticky_error();
    });
}

cudaError_t cudaDeviceReset()
{
    return call([] {
        wait_for_device("cudaDeviceReset", current_device());
        std::erase_if(device_state().peers, [](const auto &p) {
            return p.first == current_device() || p.second == current_device();
        });
        free_all(current_device());
        unload(current_device());
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetLimit(std::size_t *value, cudaLimit limit)
{
    return call([&] {
        if (!value) return cudaErrorInvalidValue;
        const auto &limits = device_state().limits;
        auto it = limits.find(limit);
        if (it == limits.end()) return cudaErrorUnsupportedLimit;
        *value = it->second;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value)
{
    return call([&] {
        auto &limits = device_state().limits;
        auto it = limits.find(limit);
        if (it == limits.end()) return cudaErrorUnsupportedLimit;
        if (limit == cudaLimitMallocHeapSize) settings().heap_bytes = value;
        if (limit == cudaLimitDevRuntimePendingLaunchCount)
            settings().pending_launches = static_cast<std::uint32_t>(value);
        it->second = limit == cudaLimitPersistingL2CacheSize
                         ? std::min(value, profile().persisting_l2_bytes())
                         : value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config)
{
    return call([&] {
        if (!config) return cudaErrorInvalidValue;
        *config = device_state().cache;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config)
{
    return call([&] {
        device_state().cache = config;
        return cudaSuccess;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache()
{
    return call([] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return call([&] {
        if (least) *least = 0;
        if (greatest) *greatest = greatest_priority;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    return call([&] {
        if (!text || length <= 0) return cudaErrorInvalidValue;
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        std::snprintf(text, static_cast<std::size_t>(length), "%s", bus_id(device).c_str());
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    return call([&] {
        if (!device || !text) return cudaErrorInvalidValue;
        for (int d = 0; d < device_count(); ++d)
            if (bus_id(d) == text) {
                *device = d;
                return cudaSuccess;
            }
        return cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    return call([&] {
        if (!can) return cudaErrorInvalidValue;
        if (!valid_device(device) || !valid_device(peer)) return cudaErrorInvalidDevice;
        *can = can_be_peer(device, peer);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return call([&] {
        if (flags) return cudaErrorInvalidValue;
        if (peer == current_device())
            return fail_because(cudaErrorInvalidDevice,
                                "it gives the current device access to another one's memory, and " +
                                    std::to_string(peer) +
                                    " is the current one itself: cudaSetDevice chooses it");
        if (!valid_device(peer)) return cudaErrorInvalidDevice;
        if (!can_be_peer(current_device(), peer)) return cudaErrorPeerAccessUnsupported;
        const bool fresh = device_state().peers.insert({current_device(), peer}).second;
        return fresh ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return call([&] {
        if (!valid_device(peer)) return cudaErrorInvalidDevice;
        return device_state().peers.erase({current_device(), peer}) ? cudaSuccess
                                                                    : cudaErrorPeerAccessNotEnabled;
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to)
{
    return call([&] {
        if (!value) return cudaErrorInvalidValue;
        if (!valid_device(from) || !valid_device(to) || from == to) return cudaErrorInvalidDevice;
        const bool yes = attribute == cudaDevP2PAttrAccessSupported ||
                         attribute == cudaDevP2PAttrNativeAtomicSupported;
        *value = yes;
        return yes || attribute == cudaDevP2PAttrPerformanceRank ||
                       attribute == cudaDevP2PAttrCudaArrayAccessSupported
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return call([&] {
        if (!version) return cudaErrorInvalidValue;
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

// There is nothing to profile, but programs that mark regions for profilers must still run.
cudaError_t cudaProfilerStart()
{
    return call([] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop()
{
    return call([] { return cudaSuccess; });
}

} // extern "C"
