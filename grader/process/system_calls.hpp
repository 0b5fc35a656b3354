// A filter of system calls: what no submission and no compiler needs answers "not permitted".
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace grading {

struct filter_options {
    // It may start processes and open sockets, as Open MPI and a compiler do. Else it has threads
    // alone, and can signal and adjust no process but itself.
    bool processes = false;
    // It may make sockets as the CUDA driver does: local ones that connect to nobody.
    bool local_sockets = false;
    // It may change modes, owners and times of files, and use the IPC of the machine: harmless
    // where namespaces hide those of others, and the part of a machine that Landlock does not
    // guard.
    bool attributes = false;
};

// Made before the fork; afterwards only system calls are safe.
class system_call_filter {
public:
    explicit system_call_filter(filter_options options);
    // For this process and what it starts, for good. False where the kernel refuses. Without
    // privileges, no_new_privs must be set.
    bool install() const;

private:
    std::vector<sock_filter> program_;
    std::vector<std::size_t> own_id_; // the instructions that compare with the process's own id
};

} // namespace grading
