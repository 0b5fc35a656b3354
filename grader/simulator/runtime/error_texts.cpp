// Names and descriptions of the runtime's error codes.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>

namespace {

struct error_text {
    cudaError_t code;
    const char *name;
    const char *text = name;
};

#define NAMED(code) code, #code

const error_text error_texts[] = {
    {NAMED(cudaSuccess), "no error"},
    {NAMED(cudaErrorInvalidValue), "invalid argument"},
    {NAMED(cudaErrorMemoryAllocation), "out of memory"},
    {NAMED(cudaErrorInitializationError), "initialization error"},
    {NAMED(cudaErrorCudartUnloading), "driver shutting down"},
    {NAMED(cudaErrorProfilerDisabled)},
    {NAMED(cudaErrorProfilerNotInitialized)},
    {NAMED(cudaErrorProfilerAlreadyStarted)},
    {NAMED(cudaErrorProfilerAlreadyStopped)},
    {NAMED(cudaErrorInvalidConfiguration), "invalid configuration argument"},
    {NAMED(cudaErrorInvalidPitchValue), "invalid pitch argument"},
    {NAMED(cudaErrorInvalidSymbol), "invalid device symbol"},
    {NAMED(cudaErrorInvalidHostPointer), "invalid host pointer"},
    {NAMED(cudaErrorInvalidDevicePointer), "invalid device pointer"},
    {NAMED(cudaErrorInvalidTexture), "invalid texture reference"},
    {NAMED(cudaErrorInvalidTextureBinding)},
    {NAMED(cudaErrorInvalidChannelDescriptor), "invalid channel descriptor"},
    {NAMED(cudaErrorInvalidMemcpyDirection), "invalid copy direction for memcpy"},
    {NAMED(cudaErrorAddressOfConstant)},
    {NAMED(cudaErrorTextureFetchFailed)},
    {NAMED(cudaErrorTextureNotBound)},
    {NAMED(cudaErrorSynchronizationError)},
    {NAMED(cudaErrorInvalidFilterSetting)},
    {NAMED(cudaErrorInvalidNormSetting)},
    {NAMED(cudaErrorMixedDeviceExecution)},
    {NAMED(cudaErrorNotYetImplemented)},
    {NAMED(cudaErrorMemoryValueTooLarge)},
    {NAMED(cudaErrorStubLibrary)},
    {NAMED(cudaErrorInsufficientDriver),
     "CUDA driver version is insufficient for CUDA runtime version"},
    {NAMED(cudaErrorCallRequiresNewerDriver)},
    {NAMED(cudaErrorInvalidSurface)},
    {NAMED(cudaErrorDuplicateVariableName)},
    {NAMED(cudaErrorDuplicateTextureName)},
    {NAMED(cudaErrorDuplicateSurfaceName)},
    {NAMED(cudaErrorDevicesUnavailable), "all CUDA-capable devices are busy or unavailable"},
    {NAMED(cudaErrorIncompatibleDriverContext)},
    {NAMED(cudaErrorMissingConfiguration)},
    {NAMED(cudaErrorPriorLaunchFailure)},
    {NAMED(cudaErrorLaunchMaxDepthExceeded)},
    {NAMED(cudaErrorLaunchFileScopedTex)},
    {NAMED(cudaErrorLaunchFileScopedSurf)},
    {NAMED(cudaErrorSyncDepthExceeded)},
    {NAMED(cudaErrorLaunchPendingCountExceeded),
     "launch failed because launch would exceed device runtime pending launch count"},
    {NAMED(cudaErrorInvalidDeviceFunction), "invalid device function"},
    {NAMED(cudaErrorNoDevice), "no CUDA-capable device is detected"},
    {NAMED(cudaErrorInvalidDevice), "invalid device ordinal"},
    {NAMED(cudaErrorDeviceNotLicensed)},
    {NAMED(cudaErrorSoftwareValidityNotEstablished)},
    {NAMED(cudaErrorStartupFailure)},
    {NAMED(cudaErrorInvalidKernelImage), "device kernel image is invalid"},
    {NAMED(cudaErrorDeviceUninitialized), "invalid device context"},
    {NAMED(cudaErrorMapBufferObjectFailed)},
    {NAMED(cudaErrorUnmapBufferObjectFailed)},
    {NAMED(cudaErrorArrayIsMapped)},
    {NAMED(cudaErrorAlreadyMapped)},
    {NAMED(cudaErrorNoKernelImageForDevice),
     "no kernel image is available for execution on the device"},
    {NAMED(cudaErrorAlreadyAcquired)},
    {NAMED(cudaErrorNotMapped)},
    {NAMED(cudaErrorNotMappedAsArray)},
    {NAMED(cudaErrorNotMappedAsPointer)},
    {NAMED(cudaErrorECCUncorrectable)},
    {NAMED(cudaErrorUnsupportedLimit), "limit is not supported on this architecture"},
    {NAMED(cudaErrorDeviceAlreadyInUse)},
    {NAMED(cudaErrorPeerAccessUnsupported),
     "peer access is not supported between these two devices"},
    {NAMED(cudaErrorInvalidPtx), "a PTX JIT compilation failed"},
    {NAMED(cudaErrorInvalidGraphicsContext)},
    {NAMED(cudaErrorNvlinkUncorrectable)},
    {NAMED(cudaErrorJitCompilerNotFound)},
    {NAMED(cudaErrorUnsupportedPtxVersion)},
    {NAMED(cudaErrorJitCompilationDisabled)},
    {NAMED(cudaErrorUnsupportedExecAffinity)},
    {NAMED(cudaErrorUnsupportedDevSideSync)},
    {NAMED(cudaErrorContained)},
    {NAMED(cudaErrorInvalidSource)},
    {NAMED(cudaErrorFileNotFound)},
    {NAMED(cudaErrorSharedObjectSymbolNotFound)},
    {NAMED(cudaErrorSharedObjectInitFailed)},
    {NAMED(cudaErrorOperatingSystem), "OS call failed or operation not supported on this OS"},
    {NAMED(cudaErrorInvalidResourceHandle), "invalid resource handle"},
    {NAMED(cudaErrorIllegalState)},
    {NAMED(cudaErrorLossyQuery)},
    {NAMED(cudaErrorSymbolNotFound), "named symbol not found"},
    {NAMED(cudaErrorNotReady), "device not ready"},
    {NAMED(cudaErrorIllegalAddress), "an illegal memory access was encountered"},
    {NAMED(cudaErrorLaunchOutOfResources), "too many resources requested for launch"},
    {NAMED(cudaErrorLaunchTimeout), "the launch timed out and was terminated"},
    {NAMED(cudaErrorLaunchIncompatibleTexturing)},
    {NAMED(cudaErrorPeerAccessAlreadyEnabled), "peer access is already enabled"},
    {NAMED(cudaErrorPeerAccessNotEnabled), "peer access has not been enabled"},
    {NAMED(cudaErrorSetOnActiveProcess), "cannot set while device is active in this process"},
    {NAMED(cudaErrorContextIsDestroyed), "context is destroyed"},
    {NAMED(cudaErrorAssert), "device-side assert triggered"},
    {NAMED(cudaErrorTooManyPeers)},
    {NAMED(cudaErrorHostMemoryAlreadyRegistered),
     "part or all of the requested memory range is already mapped"},
    {NAMED(cudaErrorHostMemoryNotRegistered),
     "pointer does not correspond to a registered memory region"},
    {NAMED(cudaErrorHardwareStackError), "hardware stack error"},
    {NAMED(cudaErrorIllegalInstruction), "an illegal instruction was encountered"},
    {NAMED(cudaErrorMisalignedAddress), "misaligned address"},
    {NAMED(cudaErrorInvalidAddressSpace), "operation not supported on global/shared address space"},
    {NAMED(cudaErrorInvalidPc), "invalid program counter"},
    {NAMED(cudaErrorLaunchFailure), "unspecified launch failure"},
    {NAMED(cudaErrorCooperativeLaunchTooLarge), "too many blocks in cooperative launch"},
    {NAMED(cudaErrorTensorMemoryLeak)},
    {NAMED(cudaErrorNotPermitted), "operation not permitted"},
    {NAMED(cudaErrorNotSupported), "operation not supported"},
    {NAMED(cudaErrorSystemNotReady)},
    {NAMED(cudaErrorSystemDriverMismatch)},
    {NAMED(cudaErrorCompatNotSupportedOnDevice)},
    {NAMED(cudaErrorMpsConnectionFailed)},
    {NAMED(cudaErrorMpsRpcFailure)},
    {NAMED(cudaErrorMpsServerNotReady)},
    {NAMED(cudaErrorMpsMaxClientsReached)},
    {NAMED(cudaErrorMpsMaxConnectionsReached)},
    {NAMED(cudaErrorMpsClientTerminated)},
    {NAMED(cudaErrorCdpNotSupported)},
    {NAMED(cudaErrorCdpVersionMismatch)},
    {NAMED(cudaErrorStreamCaptureUnsupported), "operation not permitted when stream is capturing"},
    {NAMED(cudaErrorStreamCaptureInvalidated)},
    {NAMED(cudaErrorStreamCaptureMerge)},
    {NAMED(cudaErrorStreamCaptureUnmatched)},
    {NAMED(cudaErrorStreamCaptureUnjoined)},
    {NAMED(cudaErrorStreamCaptureIsolation)},
    {NAMED(cudaErrorStreamCaptureImplicit)},
    {NAMED(cudaErrorCapturedEvent)},
    {NAMED(cudaErrorStreamCaptureWrongThread)},
    {NAMED(cudaErrorTimeout)},
    {NAMED(cudaErrorGraphExecUpdateFailure)},
    {NAMED(cudaErrorExternalDevice)},
    {NAMED(cudaErrorInvalidClusterSize)},
    {NAMED(cudaErrorFunctionNotLoaded)},
    {NAMED(cudaErrorInvalidResourceType)},
    {NAMED(cudaErrorInvalidResourceConfiguration)},
    {NAMED(cudaErrorUnknown), "unknown error"},
    {NAMED(cudaErrorApiFailureBase)},
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
    return t ? t->text : "unrecognized error code";
}

} // extern "C"
