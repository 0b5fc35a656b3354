// Record locks on a file in memory: byte 0 queues for the device, 1 is the device, 2 the cores.
#include "device_turns.hpp"

#include "process/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace grading {

namespace {

enum lock_byte : off_t { queue_byte, device_byte, cores_byte };
constexpr int nothing = static_cast<int>(turn::none), device_alone = static_cast<int>(turn::alone);

// Record locks belong to the process and go when it closes any descriptor of the file, so there is
// this one, from begin_turns() to the end.
owned_fd file;
int device_held = nothing;
bool cores_held = false, machine_held = false;

void lock(lock_byte at, short how)
{
    struct flock l {};
    l.l_type = how;
    l.l_whence = SEEK_SET;
    l.l_start = at;
    l.l_len = 1;
    while (fcntl(file.get(), F_SETLKW, &l) != 0)
        if (errno != EINTR) throw_errno("taking turns at the device");
}

void release_device()
{
    if (std::exchange(device_held, nothing) != nothing) lock(device_byte, F_UNLCK);
}

// The queue keeps those who share from overtaking one who waits to have the device alone.
void take_device(int how)
{
    if (device_held == how) return;
    release_device();
    if (how == nothing) return;
    lock(queue_byte, F_WRLCK);
    lock(device_byte, how == device_alone ? F_WRLCK : F_RDLCK);
    lock(queue_byte, F_UNLCK);
    device_held = how;
}

bool active() { return file.get() >= 0 && !machine_held; }

} // namespace

void begin_turns() { file = owned_fd::high(memfd_create("turns", MFD_CLOEXEC)); }

void end_turns() { file.close(); }

device_turn::device_turn(turn t) : outer_(device_held)
{
    if (active()) take_device(static_cast<int>(t));
}

device_turn::~device_turn()
{
    if (active()) take_device(outer_);
}

bool device_is_held() { return !active() || device_held != nothing; }

host_turn::host_turn(kept device)
    : outer_(device_held),
      counted_(active() && !cores_held),
      gave_back_(counted_ && device == without_device)
{
    if (!counted_) return;
    if (gave_back_) release_device();
    lock(cores_byte, F_RDLCK);
    cores_held = true;
}

host_turn::~host_turn()
{
    if (!counted_) return;
    lock(cores_byte, F_UNLCK);
    cores_held = false;
    if (gave_back_) take_device(outer_);
}

machine_turn::machine_turn(bool needed) : needed_(needed && active()), outer_(device_held)
{
    if (!needed_) return;
    take_device(device_alone);
    lock(cores_byte, F_WRLCK);
    machine_held = true;
}

machine_turn::~machine_turn()
{
    if (!needed_) return;
    machine_held = false;
    lock(cores_byte, F_UNLCK);
    take_device(outer_);
}

} // namespace grading
