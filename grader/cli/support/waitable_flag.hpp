// A flag that poll() can wait for.
#pragma once

#include "process/descriptor.hpp"

#include <sys/eventfd.h>

namespace cli {

// Its descriptor is readable while it is set. Any thread may set it.
class waitable_flag {
public:
    waitable_flag() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (fd_.get() < 0) grading::throw_errno("eventfd");
    }
    void set() const { eventfd_write(fd_.get(), 1); }
    void clear() const
    {
        eventfd_t count = 0;
        eventfd_read(fd_.get(), &count);
    }
    int descriptor() const { return fd_.get(); }

private:
    grading::owned_fd fd_;
};

} // namespace cli
