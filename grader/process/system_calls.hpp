// A filter of system calls: calls that no submission or compiler needs fail with "not permitted".
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace grading {

struct filter_options {
    // It may start processes and open sockets, as Open MPI and a compiler do. Otherwise it may only
    // start threads, and can signal and adjust no process but itself.
    bool processes = false;
    // It may make sockets as the CUDA driver does: local ones that connect to no other process.
    bool local_sockets = false;
    // It may change modes, owners and times of files, and use the machine's IPC. That is harmless
    // in namespaces, which hide those of others; Landlock does not guard them.
    bool attributes = false;
};

// Construct it before the fork; afterwards only system calls are safe.
class system_call_filter {
public:
    explicit system_call_filter(filter_options options);
    // Restricts this process and its descendants for good. Returns false if the kernel refuses.
    // Without privileges, no_new_privs must be set.
    bool install() const;

private:
    std::vector<sock_filter> program_;
    std::vector<std::size_t> own_id_; // indices of instructions that compare with the own id
};

} // namespace grading
