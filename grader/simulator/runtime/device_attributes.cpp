// Properties and attributes of the simulated devices.
#include "runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

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
    // Limits for compute capability 8 and 9 in the CUDA guide.
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

// Maps attributes of cudaDeviceGetAttribute to the device properties with the same value.
struct property_attribute {
    cudaDeviceAttr attribute;
    int (*value)(const cudaDeviceProp &);
};

const property_attribute property_attributes[] = {
    {cudaDevAttrMaxTexture1DLinearWidth, [](const auto &) { return texels_of_linear_memory; }},
    {cudaDevAttrMaxTexture1DWidth, [](const auto &p) { return p.maxTexture1D; }},
    {cudaDevAttrMaxTexture2DWidth, [](const auto &p) { return p.maxTexture2D[0]; }},
    {cudaDevAttrMaxTexture2DHeight, [](const auto &p) { return p.maxTexture2D[1]; }},
    {cudaDevAttrMaxTexture2DLinearWidth, [](const auto &p) { return p.maxTexture2DLinear[0]; }},
    {cudaDevAttrMaxTexture2DLinearHeight, [](const auto &p) { return p.maxTexture2DLinear[1]; }},
    {cudaDevAttrMaxTexture2DLinearPitch, [](const auto &p) { return p.maxTexture2DLinear[2]; }},
    {cudaDevAttrMaxTexture3DWidth, [](const auto &p) { return p.maxTexture3D[0]; }},
    {cudaDevAttrMaxTexture3DHeight, [](const auto &p) { return p.maxTexture3D[1]; }},
    {cudaDevAttrMaxTexture3DDepth, [](const auto &p) { return p.maxTexture3D[2]; }},
    {cudaDevAttrMaxThreadsPerBlock, [](const auto &p) { return p.maxThreadsPerBlock; }},
    {cudaDevAttrMaxBlockDimX, [](const auto &p) { return p.maxThreadsDim[0]; }},
    {cudaDevAttrMaxBlockDimY, [](const auto &p) { return p.maxThreadsDim[1]; }},
    {cudaDevAttrMaxBlockDimZ, [](const auto &p) { return p.maxThreadsDim[2]; }},
    {cudaDevAttrMaxGridDimX, [](const auto &p) { return p.maxGridSize[0]; }},
    {cudaDevAttrMaxGridDimY, [](const auto &p) { return p.maxGridSize[1]; }},
    {cudaDevAttrMaxGridDimZ, [](const auto &p) { return p.maxGridSize[2]; }},
    {cudaDevAttrMaxSharedMemoryPerBlock, [](const auto &p) { return int(p.sharedMemPerBlock); }},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin,
     [](const auto &p) { return int(p.sharedMemPerBlockOptin); }},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
     [](const auto &p) { return int(p.sharedMemPerMultiprocessor); }},
    {cudaDevAttrReservedSharedMemoryPerBlock,
     [](const auto &p) { return int(p.reservedSharedMemPerBlock); }},
    {cudaDevAttrTotalConstantMemory, [](const auto &p) { return int(p.totalConstMem); }},
    {cudaDevAttrWarpSize, [](const auto &p) { return p.warpSize; }},
    {cudaDevAttrMaxPitch, [](const auto &p) { return int(p.memPitch); }},
    {cudaDevAttrMaxRegistersPerBlock, [](const auto &p) { return p.regsPerBlock; }},
    {cudaDevAttrMaxRegistersPerMultiprocessor,
     [](const auto &p) { return p.regsPerMultiprocessor; }},
    {cudaDevAttrTextureAlignment, [](const auto &p) { return int(p.textureAlignment); }},
    {cudaDevAttrTexturePitchAlignment, [](const auto &p) { return int(p.texturePitchAlignment); }},
    {cudaDevAttrSurfaceAlignment, [](const auto &p) { return int(p.surfaceAlignment); }},
    {cudaDevAttrGpuOverlap, [](const auto &p) { return int(p.asyncEngineCount > 0); }},
    {cudaDevAttrAsyncEngineCount, [](const auto &p) { return p.asyncEngineCount; }},
    {cudaDevAttrMultiProcessorCount, [](const auto &p) { return p.multiProcessorCount; }},
    {cudaDevAttrMaxThreadsPerMultiProcessor,
     [](const auto &p) { return p.maxThreadsPerMultiProcessor; }},
    {cudaDevAttrMaxBlocksPerMultiprocessor,
     [](const auto &p) { return p.maxBlocksPerMultiProcessor; }},
    {cudaDevAttrCanMapHostMemory, [](const auto &p) { return p.canMapHostMemory; }},
    {cudaDevAttrConcurrentKernels, [](const auto &p) { return p.concurrentKernels; }},
    {cudaDevAttrUnifiedAddressing, [](const auto &p) { return p.unifiedAddressing; }},
    {cudaDevAttrManagedMemory, [](const auto &p) { return p.managedMemory; }},
    {cudaDevAttrConcurrentManagedAccess, [](const auto &p) { return p.concurrentManagedAccess; }},
    {cudaDevAttrStreamPrioritiesSupported,
     [](const auto &p) { return p.streamPrioritiesSupported; }},
    {cudaDevAttrGlobalL1CacheSupported, [](const auto &p) { return p.globalL1CacheSupported; }},
    {cudaDevAttrLocalL1CacheSupported, [](const auto &p) { return p.localL1CacheSupported; }},
    {cudaDevAttrL2CacheSize, [](const auto &p) { return p.l2CacheSize; }},
    {cudaDevAttrMaxPersistingL2CacheSize, [](const auto &p) { return p.persistingL2CacheMaxSize; }},
    {cudaDevAttrComputeCapabilityMajor, [](const auto &p) { return p.major; }},
    {cudaDevAttrComputeCapabilityMinor, [](const auto &p) { return p.minor; }},
    {cudaDevAttrCooperativeLaunch, [](const auto &p) { return p.cooperativeLaunch; }},
    {cudaDevAttrMemoryPoolsSupported, [](const auto &p) { return p.memoryPoolsSupported; }},
    {cudaDevAttrHostRegisterSupported, [](const auto &p) { return p.hostRegisterSupported; }},
    {cudaDevAttrPciBusId, [](const auto &p) { return p.pciBusID; }},
};

// Attributes that the simulated device answers with "no" or "none".
const cudaDeviceAttr zero_attributes[] = {
    cudaDevAttrClockRate, // %clock counts steps, which have no rate
    cudaDevAttrMemoryClockRate,
    cudaDevAttrGlobalMemoryBusWidth,
    cudaDevAttrKernelExecTimeout,
    cudaDevAttrIntegrated,
    cudaDevAttrComputeMode,
    cudaDevAttrEccEnabled,
    cudaDevAttrPciDeviceId,
    cudaDevAttrPciDomainId,
    cudaDevAttrTccDriver,
    cudaDevAttrIsMultiGpuBoard,
    cudaDevAttrMultiGpuBoardGroupID,
    cudaDevAttrHostNativeAtomicSupported,
    cudaDevAttrPageableMemoryAccess,
    cudaDevAttrComputePreemptionSupported,
    cudaDevAttrCanUseHostPointerForRegisteredMem,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables,
    cudaDevAttrDirectManagedMemAccessFromHost,
    cudaDevAttrMaxAccessPolicyWindowSize,
    cudaDevAttrSparseCudaArraySupported,
    cudaDevAttrHostRegisterReadOnlySupported,
    cudaDevAttrGPUDirectRDMASupported,
    cudaDevAttrClusterLaunch,
    cudaDevAttrDeferredMappingCudaArraySupported,
    cudaDevAttrIpcEventSupport,
    cudaDevAttrMpsEnabled,
};

} // namespace

cudaError_t attribute_of(int device, cudaDeviceAttr attribute, int &value)
{
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    for (const auto &known : property_attributes)
        if (known.attribute == attribute) {
            value = known.value(properties(device));
            return cudaSuccess;
        }
    for (const auto known : zero_attributes)
        if (known == attribute) {
            value = 0;
            return cudaSuccess;
        }
    return refuse(
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
