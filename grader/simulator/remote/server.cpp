// Makes the runtime calls that another process sends, and sends it requests for its memory and
// functions.
#include "server.hpp"

#include "marshal.hpp"

#include "simulator/machine/memory.hpp"
#include "simulator/runtime/runtime.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace simulator::remote {

namespace {

struct host_gone {};

struct forwarded {
    std::string_view name;
    void (*make)(reader &, writer &);
};

constexpr forwarded table[] = {
#define CALL(count, name, ...) {#name, served<&::name __VA_OPT__(, ) __VA_ARGS__>::call},
#include "calls.hpp"
#undef CALL
};

// Host threads of the other process are numbered from here, this process's own threads from 1.
constexpr std::uint64_t first_host_thread = std::uint64_t{1} << 32;

bool is_work(std::string_view name)
{
    constexpr std::string_view work[] = {"cudaMemcpy",         "cudaMemset",
                                         "cudaGraphLaunch",    "cudaMemPrefetch",
                                         "cudaLaunchHostFunc", "cudaStreamAddCallback"};
    return std::any_of(std::begin(work), std::end(work),
                       [name](std::string_view w) { return name.starts_with(w); });
}

// While an instance exists, calls are made on behalf of a host thread that can answer requests.
class host_turn {
public:
    host_turn(bool &serving, std::uint64_t thread) : serving_(serving), own_(calling_thread())
    {
        serving_ = true;
        set_calling_thread(thread);
    }
    ~host_turn()
    {
        serving_ = false;
        set_calling_thread(own_);
    }
    host_turn(const host_turn &) = delete;
    host_turn &operator=(const host_turn &) = delete;

private:
    bool &serving_;
    const std::uint64_t own_;
};

} // namespace

host_server::host_server(int connection, bool alone)
    : wire_(connection),
      local_(memory::instance().shared_file(), memory::instance().shared(),
             memory::instance().reserved() / 2),
      alone_(alone)
{
    const memory &m = memory::instance();
    set_host(this);
    gone_ = !wire_.send_greeting({m.base(), m.reserved()}, m.shared_file());
}

bool host_server::serve_one()
{
    if (gone_ || !complaint_.empty()) return false;
    header h;
    std::vector<std::byte> bytes;
    try {
        if (!wire_.receive(h, bytes, max_call_bytes)) return false;
        if (h.kind != message::call) throw wire_error("no call where one was awaited");
        const host_turn turn(serving_, first_host_thread + h.thread);
        reader from(bytes);
        writer to;
        for (const protection_change &c : std::exchange(changes_, {}))
            send_request(c.what, with(c.start, c.bytes),
                         c.what == host_request::make_accessible ? sizeof(bool) : 0);
        serve_call(static_cast<call_number>(h.what), from, to);
        std::fflush(stdout);
        h.kind = message::result;
        return wire_.send(h, to.bytes());
    } catch (const host_gone &) {
        return false;
    } catch (const wire_error &e) {
        complaint_ = e.what();
    } catch (const std::length_error &) {
        complaint_ = "a call asks for more memory than there can be";
    } catch (const std::bad_alloc &) {
        complaint_ = "a call asks for more memory than there is";
    } catch (const std::system_error &) { // caused by the system, not by the program
        throw;
    } catch (const std::logic_error &) { // a bug in the simulator
        throw;
    } catch (const std::exception &e) {
        complaint_ = std::string("a call could not be made: ") + e.what();
    }
    return false;
}

void host_server::serve_call(call_number what, reader &from, writer &to)
{
    const auto number = static_cast<std::size_t>(what);
    const bool special = what >= call_number::first_special;
    const bool work = special ? what >= call_number::launch && what <= call_number::launch_with
                              : is_work(table[number].name);
    if (work && !may_work_) {
        if (refused_.empty()) refused_ = special ? "cudaLaunchKernel" : table[number].name;
        return to.put(runtime::set_last_error(cudaErrorNotPermitted));
    }
    runtime::take_failure_reason();
    if (special)
        serve_special(what, from, to);
    else
        table[number].make(from, to);
    if (what >= call_number::launch && what <= call_number::launch_with)
        note_failure("cudaLaunchKernel", to);
    else if (!special)
        note_failure(table[number].name, to);
}

// Records the first failed call of a grader's run, except errors that are ordinary answers.
void host_server::note_failure(std::string_view name, const writer &result)
{
    cudaError_t error = cudaSuccess;
    std::memcpy(&error, result.bytes().data(), std::min(sizeof error, result.bytes().size()));
    const bool answers = error == cudaSuccess || error == cudaErrorNotReady ||
                         error == cudaErrorPeerAccessAlreadyEnabled || name == "cudaGetLastError" ||
                         name == "cudaPeekAtLastError";
    if (answers || alone_ || !may_work_ || failed_ || runtime::has_sticky_error()) return;
    failed_ = true;
    const runtime::failure_reason words = runtime::take_failure_reason();
    if (words.found) return;
    finding f;
    f.kind = finding_kind::failed_call;
    f.kernel = name;
    f.host_call = true;
    f.where = cudaGetErrorName(error);
    f.detail = words.why;
    f.pointer = words.pointer;
    findings::instance().add(std::move(f));
}

std::vector<std::byte> host_server::send_request(host_request what, const writer &w,
                                                 std::uint64_t answer)
{
    header h{.kind = message::request, .what = static_cast<std::uint32_t>(what)};
    std::fflush(stdout); // keeps the output of both processes in order
    std::vector<std::byte> bytes;
    if (!wire_.send(h, w.bytes()) || !wire_.receive(h, bytes, answer)) throw host_gone();
    if (h.kind != message::done || bytes.size() != answer)
        throw wire_error("the host did not do what it was asked for");
    return bytes;
}

bool host_server::send_request_for_bool(host_request what, const writer &w)
{
    return send_request(what, w, sizeof(bool))[0] != std::byte{0};
}

// Host addresses are read and host functions called only here, and only while the host waits for
// one of its calls.
void host_server::require_host() const
{
    if (!serving_) throw host_is_away("work that needs the host was left when it had returned");
}

void host_server::read(const void *from, const host_rows &rows, std::byte *to)
{
    require_host();
    const auto bytes = send_request(host_request::read, with(from, rows), rows.bytes());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

void host_server::write(void *to, const host_rows &rows, const std::byte *from)
{
    require_host();
    writer w = with(to, rows);
    w.put(from, rows.bytes());
    send_request(host_request::write, w, 0);
}

// A host function may not call the runtime; if it did, its thread gets an error.
void host_server::call(cudaHostFn_t function, void *data)
{
    require_host();
    if (send_request_for_bool(host_request::call_function, with(function, data)))
        runtime::set_last_error(cudaErrorNotPermitted);
}

void host_server::call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
                       void *data)
{
    require_host();
    if (send_request_for_bool(host_request::call_stream_callback,
                              with(function, stream, status, data)))
        runtime::set_last_error(cudaErrorNotPermitted);
}

bool host_server::make_accessible(address start, std::uint64_t bytes)
{
    local_.make_accessible(start, bytes);
    if (!serving_) {
        changes_.push_back({host_request::make_accessible, start, bytes});
        return true;
    }
    return send_request_for_bool(host_request::make_accessible, with(start, bytes));
}

void host_server::make_inaccessible(address start, std::uint64_t bytes)
{
    local_.make_inaccessible(start, bytes);
    if (!serving_) return changes_.push_back({host_request::make_inaccessible, start, bytes});
    send_request(host_request::make_inaccessible, with(start, bytes), 0);
}

host_process::share_result host_server::share_pages(std::uintptr_t pages, address start,
                                                    std::uint64_t bytes)
{
    require_host();
    const auto answer =
        send_request(host_request::share_pages, with(pages, start, bytes), sizeof(share_result));
    return reader(answer).take<share_result>();
}

bool host_server::unshare_pages(std::uintptr_t pages, std::uint64_t bytes)
{
    require_host();
    return send_request_for_bool(host_request::unshare_pages, with(pages, bytes));
}

bool host_server::has_other_threads()
{
    return serving_ && send_request_for_bool(host_request::has_other_threads, {});
}

} // namespace simulator::remote
