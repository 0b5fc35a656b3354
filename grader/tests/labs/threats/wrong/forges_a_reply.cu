// Fails: twice: 1000 elements | PROTOCOL_ERROR | channel was disturbed
// Threat A08: Answers the grader in the place of the process that runs it, and does nothing.
#include "lab.hpp"

#include <cstring>
#include <sys/socket.h>

// A frame as long as a reply, which says that all went well.
static char frame[4096];

void twice(const float *, float *, int)
{
    const unsigned magic = 0x31574b43, run = 5;
    std::memcpy(frame, &magic, 4);
    std::memcpy(frame + 4, &run, 4);
    for (int bytes = 256; bytes <= 4096; bytes += 8) send(3, frame, bytes, MSG_DONTWAIT);
}
