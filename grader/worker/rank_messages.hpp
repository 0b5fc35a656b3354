// Messages between the leader of an Open MPI job and the keepers of its ranks.
//
// Leader and keeper share one SOCK_SEQPACKET connection, which the rank inherits. It carries the
// requests and replies of protocol.hpp, and one `rank_end`.
#pragma once

#include "process/protocol.hpp"

#include <cstdint>

namespace grading {

struct rank_hello {
    std::uint32_t magic = protocol_magic;
    std::int32_t rank = 0;
};

// Reports how a rank ended: with a status of waitpid, or with an error text of MPI.
struct rank_end {
    std::uint32_t magic = protocol_magic;
    std::int32_t status = 0;
    char text[256] = {};
};

} // namespace grading
