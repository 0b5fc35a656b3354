// Serves one process whose host code calls the runtime: makes its calls here, where its devices
// are, and sends it the requests that only it can fulfil.
#pragma once

#include "wire.hpp"

#include "simulator/machine/host.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulator::remote {

class host_server final : public host_process {
public:
    // Does not own the connection. Sends the greeting and becomes simulator::host(). `alone`: the
    // program has no grader and may query its own findings and counters.
    host_server(int connection, bool alone);
    ~host_server() override { set_host(nullptr); }
    host_server(const host_server &) = delete;
    host_server &operator=(const host_server &) = delete;

    // Makes one call. Returns false once the other end is gone or sends an invalid message, which
    // is final. `complaint` then holds the reason for the latter.
    bool serve_one();
    const std::string &complaint() const { return complaint_; }

    // Allows or forbids calls that launch, copy or fill. Forbidden calls are refused, and the name
    // of the first one is kept for take_refused.
    void allow_work(bool allowed)
    {
        may_work_ = allowed;
        failed_ = false;
    }
    std::string take_refused() { return std::exchange(refused_, {}); }
    // Rejects further code, so that the code is fixed before there are inputs.
    void seal_code() { sealed_ = true; }
    void read(const void *from, const host_rows &rows, std::byte *to) override;
    void write(void *to, const host_rows &rows, const std::byte *from) override;
    void call(cudaHostFn_t function, void *data) override;
    void call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
              void *data) override;
    bool make_accessible(address start, std::uint64_t bytes) override;
    void make_inaccessible(address start, std::uint64_t bytes) override;
    share_result share_pages(std::uintptr_t pages, address start, std::uint64_t bytes) override;
    bool unshare_pages(std::uintptr_t pages, std::uint64_t bytes) override;
    bool has_other_threads() override;

private:
    void serve_call(call_number what, reader &from, writer &to);
    void note_failure(std::string_view name, const writer &result);
    void serve_harness(call_number what, reader &from, writer &to) const;
    void serve_special(call_number what, reader &from, writer &to);
    void **handle_of(reader &from) const;
    void **unsealed_handle_of(reader &from) const;
    std::vector<std::byte> send_request(host_request what, const writer &w, std::uint64_t answer);
    bool send_request_for_bool(host_request what, const writer &w);

    void require_host() const; // throws host_is_away
    struct protection_change {
        host_request what;
        address start;
        std::uint64_t bytes;
    };

    channel wire_;
    this_process local_;
    bool gone_ = false, serving_ = false;
    std::vector<protection_change> changes_; // of shared memory; not yet sent to the host
    std::vector<void **> binaries_;
    std::string refused_, complaint_;
    const bool alone_;
    bool may_work_ = true, sealed_ = false;
    bool failed_ = false; // a call of this run has failed
};

} // namespace simulator::remote
