// Fails: peer_table: who reaches whom | WRONG_ANSWER | memory of their own device
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = 1;
            cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j));
            can_access_host[i * devices + j] = can;
        }
}

void broadcast(float *const *, int, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
