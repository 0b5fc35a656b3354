// Properties and attributes of the simulated devices.
#include "runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace simulator::runtime {

namespace {

cudaDeviceProp properties(int device)
{
    const device_profile &p = profile();
    cudaDeviceProp out = {};
    std::snprintf(out.name, sizeof out.name, "%s", p.name);
    std::memcpy(out.uuid.bytes, "simulated device", sizeof out.uuid.bytes);
    out.uuid.bytes[15] = static_cast<char>(device);
    out.totalGlobalMem = p.global_bytes;
    out.sharedMemPerBlock = p.shared_per_block;
    out.sharedMemPerBlockOptin = p.shared_per_block_optin;
    out.sharedMemPerMultiprocessor = p.shared_per_multiprocessor;
    out.reservedSharedMemPerBlock = 1024;
    out.regsPerBlock = out.regsPerMultiprocessor = p.registers_per_multiprocessor;
    out.warpSize = 32;
    out.memPitch = 0x7fffffff;
    out.maxThreadsPerBlock = p.threads_per_block;
    out.maxThreadsDim[0] = out.maxThreadsDim[1] = 1024;
    out.maxThreadsDim[2] = 64;
    out.maxGridSize[0] = 0x7fffffff;
    out.maxGridSize[1] = out.maxGridSize[2] = 65535;
    out.totalConstMem = p.constant_bytes;
    out.major = p.major;
    out.minor = p.minor;
    out.textureAlignment = 512;
    out.texturePitchAlignment = 32;
    out.surfaceAlignment = 512;
    // Limits of compute capabilities 8.x and 9.0 in the CUDA Programming Guide.
    out.maxTexture1D = out.maxTexture2D[0] = out.maxTexture2DLinear[0] = 131072;
    out.maxTexture2D[1] = 65536;
    out.maxTexture2DLinear[1] = 65000;
    out.maxTexture2DLinear[2] = 2097120;
    std::fill(std::begin(out.maxTexture3D), std::end(out.maxTexture3D), 16384);
    out.multiProcessorCount = multiprocessors();
    out.maxThreadsPerMultiProcessor = p.threads_per_multiprocessor;
    out.maxBlocksPerMultiProcessor = p.blocks_per_multiprocessor;
    out.l2CacheSize = static_cast<int>(p.l2_bytes);
    out.persistingL2CacheMaxSize = static_cast<int>(p.persisting_l2_bytes());
    out.asyncEngineCount = p.copy_engines;
    out.canMapHostMemory = out.unifiedAddressing = out.managedMemory = 1;
    out.concurrentKernels = out.streamPrioritiesSupported = out.concurrentManagedAccess = 1;
    out.globalL1CacheSupported = out.localL1CacheSupported = 1;
    out.cooperativeLaunch = out.memoryPoolsSupported = out.hostRegisterSupported = 1;
    out.pciBusID = device + 1;
    return out;
}

std::map<cudaDeviceAttr, int> attributes(const cudaDeviceProp &p)
{
    return {
        {cudaDevAttrMaxTexture1DLinearWidth, texels_of_linear_memory},
        {cudaDevAttrMaxTexture1DWidth, p.maxTexture1D},
        {cudaDevAttrMaxTexture2DWidth, p.maxTexture2D[0]},
        {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
        {cudaDevAttrMaxTexture2DLinearWidth, p.maxTexture2DLinear[0]},
        {cudaDevAttrMaxTexture2DLinearHeight, p.maxTexture2DLinear[1]},
        {cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2]},
        {cudaDevAttrMaxTexture3DWidth, p.maxTexture3D[0]},
        {cudaDevAttrMaxTexture3DHeight, p.maxTexture3D[1]},
        {cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2]},
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, int(p.sharedMemPerBlock)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(p.sharedMemPerBlockOptin)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, int(p.sharedMemPerMultiprocessor)},
        {cudaDevAttrReservedSharedMemoryPerBlock, int(p.reservedSharedMemPerBlock)},
        {cudaDevAttrTotalConstantMemory, int(p.totalConstMem)},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxPitch, int(p.memPitch)},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrTextureAlignment, int(p.textureAlignment)},
        {cudaDevAttrTexturePitchAlignment, int(p.texturePitchAlignment)},
        {cudaDevAttrSurfaceAlignment, int(p.surfaceAlignment)},
        {cudaDevAttrGpuOverlap, p.asyncEngineCount > 0},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
        {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
        {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
        {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
        {cudaDevAttrPciBusId, p.pciBusID},
        // The simulated device has none of these; %clock counts steps, which have no rate.
        {cudaDevAttrClockRate, 0},
        {cudaDevAttrMemoryClockRate, 0},
        {cudaDevAttrGlobalMemoryBusWidth, 0},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrPciDeviceId, 0},
        {cudaDevAttrPciDomainId, 0},
        {cudaDevAttrTccDriver, 0},
        {cudaDevAttrIsMultiGpuBoard, 0},
        {cudaDevAttrMultiGpuBoardGroupID, 0},
        {cudaDevAttrHostNativeAtomicSupported, 0},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrComputePreemptionSupported, 0},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, 0},
        {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
        {cudaDevAttrDirectManagedMemAccessFromHost, 0},
        {cudaDevAttrMaxAccessPolicyWindowSize, 0},
        {cudaDevAttrSparseCudaArraySupported, 0},
        {cudaDevAttrHostRegisterReadOnlySupported, 0},
        {cudaDevAttrGPUDirectRDMASupported, 0},
        {cudaDevAttrClusterLaunch, 0},
        {cudaDevAttrDeferredMappingCudaArraySupported, 0},
        {cudaDevAttrIpcEventSupport, 0},
        {cudaDevAttrMpsEnabled, 0},
    };
}

} // namespace

cudaError_t attribute_of(int device, cudaDeviceAttr attribute, int &value)
{
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    const auto known = attributes(properties(device));
    if (const auto it = known.find(attribute); it != known.end()) {
        value = it->second;
        return cudaSuccess;
    }
    return not_supported(
        ("attribute " + std::to_string(attribute) + " of cudaDeviceGetAttribute").c_str());
}

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        if (!valid_device(device)) return cudaErrorInvalidDevice;
        *out = properties(device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    return call(
        [&] { return value ? attribute_of(device, attribute, *value) : cudaErrorInvalidValue; });
}

} // extern "C"
