// The connection between host code and its simulated devices: all input is untrusted.
#include <doctest/doctest.h>

#include "simulator/machine/memory.hpp"
#include "simulator/remote/marshal.hpp"
#include "simulator/remote/server.hpp"
#include "simulator/runtime/runtime.hpp"

#include <random>
#include <sys/socket.h>
#include <unistd.h>

using namespace simulator;
using namespace simulator::remote;

namespace {

// The host's end of a new connection.
class host_end {
public:
    explicit host_end(bool alone = false)
    {
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) == 0);
        server = std::make_unique<host_server>(ends_[1], alone);
        greeting g;
        int file = -1;
        REQUIRE(channel(ends_[0]).receive_greeting(g, file));
        CHECK(g.base == memory::instance().base());
        close(file);
    }
    ~host_end()
    {
        close(ends_[0]);
        close(ends_[1]);
    }
    host_end(const host_end &) = delete;
    host_end &operator=(const host_end &) = delete;

    void send(call_number what, std::span<const std::byte> bytes, std::uint32_t magic = right)
    {
        header h;
        h.magic = magic;
        h.kind = message::call;
        h.what = static_cast<std::uint32_t>(what);
        channel(ends_[0]).send(h, bytes);
    }
    // Returns the result of a call, or nothing if the connection ended.
    std::optional<std::vector<std::byte>> call(call_number what, const writer &w)
    {
        send(what, w.bytes());
        if (!server->serve_one()) return {};
        header h;
        std::vector<std::byte> bytes;
        if (!channel(ends_[0]).receive(h, bytes, max_call_bytes)) return {};
        CHECK(h.kind == message::result);
        return bytes;
    }
    // Requests of the server get no answer from now on.
    void stop_answering() const { shutdown(ends_[0], SHUT_WR); }

    static constexpr std::uint32_t right = header::right_magic;
    std::unique_ptr<host_server> server;

private:
    int ends_[2] = {-1, -1};
};

template <typename... sized, typename... A> writer message_of(const A &...arguments)
{
    writer w;
    put_arguments<sized...>(w, std::tuple<A...>(arguments...));
    return w;
}

cudaError_t error_in(const std::optional<std::vector<std::byte>> &bytes)
{
    REQUIRE(bytes);
    return reader(*bytes).take<cudaError_t>();
}

} // namespace

TEST_CASE("a call is made with what a message holds, and what it wrote comes back")
{
    host_end host;
    void *out = nullptr;
    const std::size_t bytes = 100;
    const auto answer = host.call(call_number::cudaMalloc, message_of(&out, bytes));
    CHECK(error_in(answer) == cudaSuccess);
    reader from(*answer);
    from.take<cudaError_t>();
    take_results(from, std::tuple(&out, bytes));
    CHECK(memory::instance().find(as_address(out))->bytes == bytes);
    CHECK(from.left() == 0);
}

TEST_CASE("what is no message ends the connection, and says why")
{
    struct {
        const char *what;
        std::function<void(host_end &)> send;
    } const rows[] = {
        {"no message of ours", [](host_end &h) { h.send(call_number::cudaMalloc, {}, 1); }},
        {"cut short", [](host_end &h) { h.send(call_number::cudaMalloc, {}); }},
        {"an unknown call", [](host_end &h) { h.send(static_cast<call_number>(999999), {}); }},
        {"an unknown call", [](host_end &h) { h.send(call_number::begin, {}); }},
        {"no such fat binary",
         [](host_end &h) {
             writer w;
             w.put(std::uint64_t{77});
             h.send(call_number::load_binary, w.bytes());
         }},
        {"a list has another length",
         [](host_end &h) {
             cudaGraph_t graph = nullptr;
             cudaGraphNode_t nodes[2] = {};
             std::size_t two = 2;
             writer w = message_of<elements<1, 2>>(graph, &nodes[0], &two);
             std::vector<std::byte> bytes(w.bytes().begin(), w.bytes().end());
             bytes.back() = std::byte{1}; // the number of elements now looks larger
             h.send(call_number::cudaGraphGetNodes, bytes);
         }},
    };
    for (const auto &row : rows) {
        host_end host;
        row.send(host);
        CHECK_FALSE(host.server->serve_one());
        CHECK_MESSAGE(host.server->complaint().find(row.what) != std::string::npos,
                      host.server->complaint());
    }
}

TEST_CASE("work is refused while it is not allowed, and no code comes once it is sealed")
{
    host_end host;
    host.server->allow_work(false);
    void *to = nullptr;
    const void *from = nullptr;
    const std::size_t bytes = 4;
    const auto kind = cudaMemcpyDefault;
    CHECK(error_in(host.call(call_number::cudaMemcpy, message_of(to, from, bytes, kind))) ==
          cudaErrorNotPermitted);
    CHECK(host.server->take_refused() == "cudaMemcpy");
    CHECK(host.server->take_refused() == "");
    CHECK(error_in(host.call(call_number::cudaGetLastError, writer())) == cudaErrorNotPermitted);
    host.server->allow_work(true);
    CHECK(error_in(host.call(call_number::cudaMemcpy, message_of(to, from, bytes, kind))) ==
          cudaErrorInvalidValue);
    host.server->seal_code();
    writer code;
    code.put(false);
    code.put(std::uint64_t{0});
    host.send(call_number::register_binary, code.bytes());
    CHECK_FALSE(host.server->serve_one());
    CHECK(host.server->complaint().find("registered") != std::string::npos);
}

TEST_CASE("work that needs the host is not done when the host has returned")
{
    host_end host;
    std::byte bytes[4] = {};
    CHECK_THROWS_AS(simulator::host().call(cudaHostFn_t{}, nullptr), simulator::host_is_away);
    CHECK_THROWS_AS(simulator::host().read(bytes, {4}, bytes), simulator::host_is_away);
    CHECK_THROWS_AS(simulator::host().write(bytes, {4}, bytes), simulator::host_is_away);
}

TEST_CASE("messages of any bytes end in an answer or in the connection's end, never in a crash")
{
    std::mt19937_64 random(20260104);
    auto below = [&](std::uint64_t n) { return random() % n; };
    void *out = nullptr, *device = nullptr;
    {
        host_end host;
        REQUIRE(cudaMalloc(&device, 4096) == cudaSuccess);
    }
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t nodes[3] = {};
    std::size_t three = 3;
    cudaMemcpy3DParms volume{};
    const std::size_t bytes = 64;
    const auto kind = cudaMemcpyDefault;
    const std::vector<std::pair<call_number, writer>> whole = {
        {call_number::cudaMalloc, message_of(&out, bytes)},
        {call_number::cudaFree, message_of(device)},
        {call_number::cudaMemcpy, message_of(device, static_cast<const void *>(&out), bytes, kind)},
        {call_number::cudaMemcpy3D, message_of(static_cast<const cudaMemcpy3DParms *>(&volume))},
        {call_number::cudaStreamSynchronize, message_of(stream)},
        {call_number::cudaGraphGetNodes, message_of<elements<1, 2>>(graph, &nodes[0], &three)},
        {call_number::cudaHostAlloc, message_of(&out, bytes, 0u)},
    };
    std::size_t answered = 0, ended = 0;
    for (int i = 0; i < 20000; ++i) {
        host_end host;
        const auto &[number, message] = whole[below(whole.size())];
        std::vector<std::byte> mutated(message.bytes().begin(), message.bytes().end());
        for (auto n = below(4); n > 0 && !mutated.empty(); --n)
            mutated[below(mutated.size())] = static_cast<std::byte>(random());
        if (below(8) == 0) mutated.resize(below(mutated.size() + 1));
        if (below(8) == 0)
            for (auto n = below(64); n > 0; --n)
                mutated.push_back(static_cast<std::byte>(random()));
        const auto last = static_cast<std::uint32_t>(call_number::first_of_harness);
        const bool any = below(4) == 0;
        host.send(any ? static_cast<call_number>(below(last)) : number, mutated);
        host.stop_answering();
        ++(host.server->serve_one() ? answered : ended);
    }
    CHECK(answered > 1000);
    CHECK(ended > 1000);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
