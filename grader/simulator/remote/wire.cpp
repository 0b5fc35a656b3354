// Sends and receives whole messages over a stream socket.
#include "wire.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace simulator::remote {

bool channel::read_all(void *to, std::size_t bytes) const
{
    auto *at = static_cast<std::byte *>(to);
    while (bytes > 0) {
        const ssize_t got = ::read(fd_, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool channel::receive(header &h, std::vector<std::byte> &bytes, std::uint64_t max_bytes) const
{
    if (!read_all(&h, sizeof h)) return false;
    if (h.magic != header::right_magic || h.bytes > max_bytes)
        throw wire_error("no message of ours");
    bytes.resize(h.bytes);
    return read_all(bytes.data(), h.bytes);
}

bool channel::send(header h, std::span<const std::byte> bytes) const
{
    h.bytes = bytes.size();
    iovec parts[2] = {{&h, sizeof h}, {const_cast<std::byte *>(bytes.data()), bytes.size()}};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = writev(fd_, parts, 2);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        for (iovec &p : parts) {
            const auto n = std::min(static_cast<std::size_t>(sent), p.iov_len);
            p.iov_base = static_cast<std::byte *>(p.iov_base) + n;
            p.iov_len -= n;
            sent -= static_cast<ssize_t>(n);
        }
    }
    return true;
}

bool channel::send_greeting(const greeting &g, int file) const
{
    greeting copy = g;
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof file)] = {};
    iovec data{&copy, sizeof copy};
    msghdr m{};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(c), &file, sizeof file);
    return sendmsg(fd_, &m, MSG_NOSIGNAL) == ssize_t{sizeof copy};
}

bool channel::receive_greeting(greeting &g, int &file) const
{
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof file)] = {};
    iovec data{&g, sizeof g};
    msghdr m{};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    if (recvmsg(fd_, &m, MSG_CMSG_CLOEXEC) != ssize_t{sizeof g}) return false;
    const cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_len != CMSG_LEN(sizeof file)) return false;
    std::memcpy(&file, CMSG_DATA(c), sizeof file);
    return true;
}

} // namespace simulator::remote
