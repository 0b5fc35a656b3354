// Names and descriptions of the runtime's error codes.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>

namespace {

struct error_text {
    cudaError_t code;
    const char *name;
    const char *text; // if empty, the name is used
};

const error_text error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled", ""},
    {cudaErrorProfilerNotInitialized, "cudaErrorProfilerNotInitialized", ""},
    {cudaErrorProfilerAlreadyStarted, "cudaErrorProfilerAlreadyStarted", ""},
    {cudaErrorProfilerAlreadyStopped, "cudaErrorProfilerAlreadyStopped", ""},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidTexture, "cudaErrorInvalidTexture", "invalid texture reference"},
    {cudaErrorInvalidTextureBinding, "cudaErrorInvalidTextureBinding", ""},
    {cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor",
     "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorAddressOfConstant, "cudaErrorAddressOfConstant", ""},
    {cudaErrorTextureFetchFailed, "cudaErrorTextureFetchFailed", ""},
    {cudaErrorTextureNotBound, "cudaErrorTextureNotBound", ""},
    {cudaErrorSynchronizationError, "cudaErrorSynchronizationError", ""},
    {cudaErrorInvalidFilterSetting, "cudaErrorInvalidFilterSetting", ""},
    {cudaErrorInvalidNormSetting, "cudaErrorInvalidNormSetting", ""},
    {cudaErrorMixedDeviceExecution, "cudaErrorMixedDeviceExecution", ""},
    {cudaErrorNotYetImplemented, "cudaErrorNotYetImplemented", ""},
    {cudaErrorMemoryValueTooLarge, "cudaErrorMemoryValueTooLarge", ""},
    {cudaErrorStubLibrary, "cudaErrorStubLibrary", ""},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver", ""},
    {cudaErrorInvalidSurface, "cudaErrorInvalidSurface", ""},
    {cudaErrorDuplicateVariableName, "cudaErrorDuplicateVariableName", ""},
    {cudaErrorDuplicateTextureName, "cudaErrorDuplicateTextureName", ""},
    {cudaErrorDuplicateSurfaceName, "cudaErrorDuplicateSurfaceName", ""},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "all CUDA-capable devices are busy or unavailable"},
    {cudaErrorIncompatibleDriverContext, "cudaErrorIncompatibleDriverContext", ""},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", ""},
    {cudaErrorPriorLaunchFailure, "cudaErrorPriorLaunchFailure", ""},
    {cudaErrorLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded", ""},
    {cudaErrorLaunchFileScopedTex, "cudaErrorLaunchFileScopedTex", ""},
    {cudaErrorLaunchFileScopedSurf, "cudaErrorLaunchFileScopedSurf", ""},
    {cudaErrorSyncDepthExceeded, "cudaErrorSyncDepthExceeded", ""},
    {cudaErrorLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed device runtime pending launch count"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceNotLicensed, "cudaErrorDeviceNotLicensed", ""},
    {cudaErrorSoftwareValidityNotEstablished, "cudaErrorSoftwareValidityNotEstablished", ""},
    {cudaErrorStartupFailure, "cudaErrorStartupFailure", ""},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed", ""},
    {cudaErrorUnmapBufferObjectFailed, "cudaErrorUnmapBufferObjectFailed", ""},
    {cudaErrorArrayIsMapped, "cudaErrorArrayIsMapped", ""},
    {cudaErrorAlreadyMapped, "cudaErrorAlreadyMapped", ""},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorAlreadyAcquired, "cudaErrorAlreadyAcquired", ""},
    {cudaErrorNotMapped, "cudaErrorNotMapped", ""},
    {cudaErrorNotMappedAsArray, "cudaErrorNotMappedAsArray", ""},
    {cudaErrorNotMappedAsPointer, "cudaErrorNotMappedAsPointer", ""},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", ""},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {cudaErrorDeviceAlreadyInUse, "cudaErrorDeviceAlreadyInUse", ""},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorInvalidGraphicsContext, "cudaErrorInvalidGraphicsContext", ""},
    {cudaErrorNvlinkUncorrectable, "cudaErrorNvlinkUncorrectable", ""},
    {cudaErrorJitCompilerNotFound, "cudaErrorJitCompilerNotFound", ""},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion", ""},
    {cudaErrorJitCompilationDisabled, "cudaErrorJitCompilationDisabled", ""},
    {cudaErrorUnsupportedExecAffinity, "cudaErrorUnsupportedExecAffinity", ""},
    {cudaErrorUnsupportedDevSideSync, "cudaErrorUnsupportedDevSideSync", ""},
    {cudaErrorContained, "cudaErrorContained", ""},
    {cudaErrorInvalidSource, "cudaErrorInvalidSource", ""},
    {cudaErrorFileNotFound, "cudaErrorFileNotFound", ""},
    {cudaErrorSharedObjectSymbolNotFound, "cudaErrorSharedObjectSymbolNotFound", ""},
    {cudaErrorSharedObjectInitFailed, "cudaErrorSharedObjectInitFailed", ""},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", ""},
    {cudaErrorLossyQuery, "cudaErrorLossyQuery", ""},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorLaunchIncompatibleTexturing, "cudaErrorLaunchIncompatibleTexturing", ""},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorSetOnActiveProcess, "cudaErrorSetOnActiveProcess",
     "cannot set while device is active in this process"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorTooManyPeers, "cudaErrorTooManyPeers", ""},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace",
     "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid program counter"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorTensorMemoryLeak, "cudaErrorTensorMemoryLeak", ""},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorSystemNotReady, "cudaErrorSystemNotReady", ""},
    {cudaErrorSystemDriverMismatch, "cudaErrorSystemDriverMismatch", ""},
    {cudaErrorCompatNotSupportedOnDevice, "cudaErrorCompatNotSupportedOnDevice", ""},
    {cudaErrorMpsConnectionFailed, "cudaErrorMpsConnectionFailed", ""},
    {cudaErrorMpsRpcFailure, "cudaErrorMpsRpcFailure", ""},
    {cudaErrorMpsServerNotReady, "cudaErrorMpsServerNotReady", ""},
    {cudaErrorMpsMaxClientsReached, "cudaErrorMpsMaxClientsReached", ""},
    {cudaErrorMpsMaxConnectionsReached, "cudaErrorMpsMaxConnectionsReached", ""},
    {cudaErrorMpsClientTerminated, "cudaErrorMpsClientTerminated", ""},
    {cudaErrorCdpNotSupported, "cudaErrorCdpNotSupported", ""},
    {cudaErrorCdpVersionMismatch, "cudaErrorCdpVersionMismatch", ""},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", ""},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge", ""},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", ""},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", ""},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", ""},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit", ""},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent", ""},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread", ""},
    {cudaErrorTimeout, "cudaErrorTimeout", ""},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure", ""},
    {cudaErrorExternalDevice, "cudaErrorExternalDevice", ""},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", ""},
    {cudaErrorFunctionNotLoaded, "cudaErrorFunctionNotLoaded", ""},
    {cudaErrorInvalidResourceType, "cudaErrorInvalidResourceType", ""},
    {cudaErrorInvalidResourceConfiguration, "cudaErrorInvalidResourceConfiguration", ""},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    {cudaErrorApiFailureBase, "cudaErrorApiFailureBase", ""},
};

const error_text *text_of(cudaError_t code)
{
    const auto *found = std::find_if(std::begin(error_texts), std::end(error_texts),
                                     [code](const error_text &t) { return t.code == code; });
    return found == std::end(error_texts) ? nullptr : found;
}

} // namespace

extern "C" {

const char *cudaGetErrorName(cudaError_t error)
{
    const auto *t = text_of(error);
    return t ? t->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const auto *t = text_of(error);
    if (!t) return "unrecognized error code";
    return *t->text ? t->text : t->name;
}

} // extern "C"
