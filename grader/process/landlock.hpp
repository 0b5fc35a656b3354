// The kernel's Landlock: a process gives up all files but those below some folders, and, where the
// kernel can, also TCP, abstract sockets of other processes, and signals to them.
#pragma once

#include "descriptor.hpp"

namespace grading {

// Construct it before the fork: the member functions only make system calls. Move-only.
class landlock_rules {
public:
    // Allows nothing at first. Throws nothing: without Landlock, enforce returns false.
    landlock_rules();

    // Allows to read and execute a file or folder; if `writable`, also to change it and use device
    // ioctls. Ignores a missing path. Makes only system calls.
    void allow(const char *path, bool writable) const;
    // Restricts this process and its descendants for good. Returns false if the kernel refuses.
    // Without privileges, no_new_privs must be set.
    bool enforce() const;

private:
    owned_fd rules_;
    unsigned long long handled_ = 0; // the file rights that this kernel knows
};

} // namespace grading
