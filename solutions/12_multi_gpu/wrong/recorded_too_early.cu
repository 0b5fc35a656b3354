// Fails: broadcast: work that comes late | WRONG_ANSWER | in front of the work
// On gpu: may pass - whoever sends first may still be first
// Each event stands before the copy that it should stand for: the next member waits for less.
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static void enable_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            cudaSetDevice(device_of(i));
            if (device_of(i) != device_of(j)) cudaDeviceEnablePeerAccess(device_of(j), 0);
        }
    cudaGetLastError();
}

// Halves, so that the first is sent on while the second comes.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    cudaStream_t streams[max_members];
    cudaEvent_t came[max_members][2];
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        cudaStreamCreate(&streams[k]);
        for (cudaEvent_t &e : came[k]) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    }
    for (int half = 0; half < 2; ++half) {
        const int first = half ? n / 2 : 0, count = half ? n - n / 2 : n / 2;
        for (int k = 0; k + 1 < devices; ++k) {
            cudaSetDevice(device_of(k));
            if (k > 0) cudaStreamWaitEvent(streams[k], came[k - 1][half]);
            cudaEventRecord(came[k][half], streams[k]);
            cudaMemcpyPeerAsync(buffers[k + 1] + first, device_of(k + 1), buffers[k] + first,
                                device_of(k), sizeof(float) * count, streams[k]);
        }
    }
    for (int k = 0; k < devices; ++k) {
        cudaStreamSynchronize(streams[k]);
        cudaStreamDestroy(streams[k]);
        for (cudaEvent_t e : came[k]) cudaEventDestroy(e);
    }
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
