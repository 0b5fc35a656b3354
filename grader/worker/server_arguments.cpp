// Loads, changes and stores the arguments of calls.
#include "server.hpp"

#include "yardstick.hpp"

#include <algorithm>

namespace grading {

void server::scratch(const request &r, reply &a)
{
    argument_set s({r.arguments, r.argument_count});
    for (loaded_argument &one : s.arguments)
        if (one.descriptor.where == argument_memory::value && !load_argument(one))
            return malformed(a, "a value lies outside the input region");
    a.bytes = scratch_bytes(s, r.function, (r.flags & of_any_size) != 0);
}

bool server::is_local(argument_memory where) const
{
    return role_ == role::all || with_host_code(where) == (role_ == role::host);
}

// Takes the addresses of the buffers in the device process from the request. Returns false if there
// are more than it holds.
bool server::receive_addresses(argument_set &s, const request &r)
{
    std::size_t next = 0;
    for (loaded_argument &one : s.arguments) {
        if (is_local(one.descriptor.where)) continue;
        for (unsigned k = 0; k < parts_of(one.descriptor); ++k) {
            if (next == max_buffers) return false;
            one.payloads.push_back(reinterpret_cast<void *>(r.buffers[next++]));
        }
    }
    return true;
}

bool server::send_addresses(const argument_set &s, reply &a) const
{
    std::size_t next = 0;
    for (const loaded_argument &one : s.arguments) {
        if (!is_local(one.descriptor.where)) continue;
        for (void *p : one.payloads) {
            if (next == max_buffers) return false;
            a.buffers[next++] = reinterpret_cast<std::uint64_t>(p);
        }
    }
    return true;
}

void server::load(const request &r, reply &a)
{
    sets_.erase(r.set);
    digests_at_end_.clear();
    argument_set s({r.arguments, r.argument_count});
    if (gate_) gate_->seal_code();
    for (bool last : {false, true})
        for (loaded_argument &one : s.arguments)
            if (bool(one.descriptor.last) == last && is_local(one.descriptor.where) &&
                !load_argument(one))
                return malformed(a, "an argument lies outside the input region");
    for (loaded_argument &one : s.arguments) // its size depends on the other arguments' values
        if (one.descriptor.scratch && role_ != role::host && !load_scratch(s, one, r, a)) return;
    if (role_ == role::host && !receive_addresses(s, r))
        return malformed(a, "there are more buffers than can be told of");
    check(synchronise_devices());
    check(cudaSetDevice(home_device()));
    for (loaded_argument &one : s.arguments) {
        for (const buffer &b : one.buffers) b.watch(one.descriptor);
        const argument_memory w = one.descriptor.where;
        if (w == argument_memory::value)
            s.pointers.push_back(one.value.data());
        else if (w == argument_memory::per_device)
            s.pointers.push_back(one.payloads.data());
        else if (w == argument_memory::absent || (role_ == role::devices && with_host_code(w)))
            s.pointers.push_back(nullptr);
        else
            s.pointers.push_back(one.payloads[0]);
    }
    if (role_ == role::devices && !send_addresses(s, a))
        return malformed(a, "there are more buffers than can be told of");
    sets_.emplace(r.set, std::move(s));
}

bool server::load_scratch(const argument_set &s, loaded_argument &one, const request &r, reply &a)
{
    const argument_descriptor &d = one.descriptor;
    a.bytes = role_ == role::devices ? r.scratch_bytes : scratch_bytes(s, r.function);
    buffer &b = one.buffers.emplace_back(d, a.bytes, 0);
    const std::byte *from = in(d.input, b.image_bytes());
    if (from) b.load(from);
    one.payloads = {b.payload()};
    return from || (malformed(a, "scratch has no guards"), false);
}

bool server::load_argument(loaded_argument &one)
{
    argument_descriptor &d = one.descriptor;
    d.name[sizeof d.name - 1] = 0;
    if (d.scratch || d.where == argument_memory::absent)
        return true; // load_scratch loads scratch later
    if (d.where == argument_memory::value) {
        const std::byte *from = in(d.input, d.bytes);
        if (from) one.value.assign(from, from + d.bytes);
        return from != nullptr;
    }
    const unsigned count = parts_of(d);
    if (count == 0 || d.bytes % count) return false;
    int devices = 1;
    check(cudaGetDeviceCount(&devices));
    for (unsigned k = 0; k < count; ++k) {
        buffer &b = one.buffers.emplace_back(d, d.bytes / count, static_cast<int>(k) % devices);
        const std::byte *from = in(d.input + k * b.image_bytes(), b.image_bytes());
        if (!from) return false;
        b.load(from);
        one.payloads.push_back(b.payload());
    }
    return true;
}

argument_set *server::find(std::uint32_t set, reply &a)
{
    auto at = sets_.find(set);
    if (at != sets_.end()) return &at->second;
    malformed(a, "no such set");
    return nullptr;
}

void server::patch(const request &r, reply &a)
{
    argument_set *s = find(r.set, a);
    if (!s) return;
    const std::byte *from = in(r.offset, r.bytes);
    if (!from || r.index >= s->arguments.size() || s->arguments[r.index].buffers.size() != 1)
        return malformed(a, "nothing to patch");
    buffer &b = s->arguments[r.index].buffers[0];
    if (r.at > b.payload_bytes() || r.bytes > b.payload_bytes() - r.at)
        return malformed(a, "a patch lies outside its argument");
    b.patch(r.at, from, r.bytes);
}

void server::poison(const request &r, reply &a)
{
    argument_set *s = find(r.set, a);
    if (!s) return;
    for (const loaded_argument &one : s->arguments)
        for (const buffer &b : one.buffers)
            if (one.descriptor.output && poisoned(one.descriptor.where))
                yardstick_fill(reinterpret_cast<unsigned *>(b.payload()), b.payload_bytes() / 4,
                               r.pattern);
    if (role_ == role::devices) check(cudaGetLastError(), run_step::synchronise);
    check(cudaDeviceSynchronize(), run_step::synchronise);
}

void server::store(const request &r, reply &a)
{
    if (gate_) copy_text(a.refused, gate_->take_refused().c_str());
    argument_set *s = find(r.set, a);
    if (!s) return;
    if (!digests_at_end_.empty()) {
        const auto now = digests(*s);
        const auto changed =
            std::mismatch(digests_at_end_.begin(), digests_at_end_.end(), now.begin(), now.end());
        if (changed.second != now.end())
            a.changed_late = static_cast<std::uint32_t>(changed.second - now.begin()) + 1;
        digests_at_end_.clear();
    }
    for (const loaded_argument &one : s->arguments) {
        if ((r.flags & writable_only) && one.descriptor.read_only) continue;
        std::uint64_t at = one.descriptor.output_at;
        for (const buffer &b : one.buffers) {
            std::byte *to = out(at, b.image_bytes());
            if (!to) return malformed(a, "an argument does not fit the output region");
            b.store(to);
            at += b.image_bytes();
        }
    }
}

} // namespace grading
