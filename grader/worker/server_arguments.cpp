// Loads, changes and stores the arguments of calls.
#include "server.hpp"

#include "yardstick.hpp"

#include <algorithm>

namespace grading {

void server::scratch(const request &r, reply &a)
{
    argument_set s({r.arguments, r.argument_count});
    for (std::uint32_t i = 0; i < r.argument_count; ++i)
        if (r.arguments[i].where == argument_memory::value && !load_argument(s, i))
            return malformed(a, "a value lies outside the input region");
    a.bytes = scratch_bytes(s, r.function, (r.flags & of_any_size) != 0);
}

bool server::is_mine(argument_memory where) const
{
    return is_ == part::all || with_host_code(where) == (is_ == part::host);
}

// Takes the addresses of the buffers in the device process from the request.
bool server::take_buffers(argument_set &s, const request &r)
{
    std::size_t next = 0;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        if (is_mine(s.descriptors[i].where)) continue;
        for (unsigned k = 0; k < parts_of(s.descriptors[i]); ++k) {
            if (next == max_buffers) return false;
            s.part_pointers[i].push_back(reinterpret_cast<void *>(r.buffers[next++]));
        }
    }
    return true;
}

bool server::give_buffers(const argument_set &s, reply &a) const
{
    std::size_t next = 0;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        if (!is_mine(s.descriptors[i].where)) continue;
        for (void *p : s.part_pointers[i]) {
            if (next == max_buffers) return false;
            a.buffers[next++] = reinterpret_cast<std::uint64_t>(p);
        }
    }
    return true;
}

void server::load(const request &r, reply &a)
{
    sets_.erase(r.set);
    at_end_.clear();
    argument_set s({r.arguments, r.argument_count});
    if (gate_) gate_->seal_code();
    for (bool last : {false, true})
        for (std::uint32_t i = 0; i < r.argument_count; ++i)
            if (bool(r.arguments[i].last) == last && is_mine(r.arguments[i].where) &&
                !load_argument(s, i))
                return malformed(a, "an argument lies outside the input region");
    for (std::uint32_t i = 0; i < r.argument_count;
         ++i) // scratch sizes depend on the other arguments' values
        if (r.arguments[i].scratch && is_ != part::host && !load_scratch(s, i, r, a)) return;
    if (is_ == part::host && !take_buffers(s, r))
        return malformed(a, "there are more buffers than can be told of");
    check(synchronise_devices());
    check(cudaSetDevice(home_device()));
    for (std::size_t i = 0; i < s.descriptors.size(); ++i)
        for (buffer &b : s.buffers[i]) b.watch(s.descriptors[i]);
    // Take pointers into the vectors only now that these grow no more.
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        argument_memory w = s.descriptors[i].where;
        if (w == argument_memory::value)
            s.pointers.push_back(s.values[i].data());
        else if (w == argument_memory::per_device)
            s.pointers.push_back(s.part_pointers[i].data());
        else if (w == argument_memory::absent || (is_ == part::devices && with_host_code(w)))
            s.pointers.push_back(nullptr);
        else
            s.pointers.push_back(s.part_pointers[i][0]);
    }
    if (is_ == part::devices && !give_buffers(s, a))
        return malformed(a, "there are more buffers than can be told of");
    sets_.emplace(r.set, std::move(s));
}

bool server::load_scratch(argument_set &s, std::size_t i, const request &r, reply &a)
{
    const argument_descriptor &d = s.descriptors[i];
    a.bytes = is_ == part::devices ? r.scratch_bytes : scratch_bytes(s, r.function);
    buffer &b = s.buffers[i].emplace_back(d, a.bytes, 0);
    const std::byte *from = in(d.input, b.image_bytes());
    if (from) b.load(from);
    s.part_pointers[i] = {b.payload()};
    return from || (malformed(a, "scratch has no guards"), false);
}

bool server::load_argument(argument_set &s, std::size_t i)
{
    argument_descriptor &d = s.descriptors[i];
    d.name[sizeof d.name - 1] = 0;
    auto &buffers = s.buffers[i];
    auto &parts = s.part_pointers[i];
    auto &value = s.values[i];
    if (d.scratch || d.where == argument_memory::absent)
        return true; // load_scratch loads scratch later
    if (d.where == argument_memory::value) {
        const std::byte *from = in(d.input, d.bytes);
        if (from) value.assign(from, from + d.bytes);
        return from != nullptr;
    }
    const unsigned count = parts_of(d);
    if (count == 0 || d.bytes % count) return false;
    int devices = 1;
    check(cudaGetDeviceCount(&devices));
    for (unsigned k = 0; k < count; ++k) {
        buffer &b = buffers.emplace_back(d, d.bytes / count, static_cast<int>(k) % devices);
        const std::byte *from = in(d.input + k * b.image_bytes(), b.image_bytes());
        if (!from) return false;
        b.load(from);
        parts.push_back(b.payload());
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
    if (!from || r.index >= s->descriptors.size() || s->buffers[r.index].size() != 1)
        return malformed(a, "nothing to patch");
    buffer &b = s->buffers[r.index][0];
    if (r.at > b.payload_bytes() || r.bytes > b.payload_bytes() - r.at)
        return malformed(a, "a patch lies outside its argument");
    b.patch(r.at, from, r.bytes);
}

void server::poison(const request &r, reply &a)
{
    argument_set *s = find(r.set, a);
    if (!s) return;
    for (std::size_t i = 0; i < s->descriptors.size(); ++i)
        for (buffer &b : s->buffers[i])
            if (s->descriptors[i].output && poisoned(s->descriptors[i].where))
                yardstick_fill(reinterpret_cast<unsigned *>(b.payload()), b.payload_bytes() / 4,
                               r.pattern);
    if (is_ == part::devices) check(cudaGetLastError(), run_step::synchronise);
    check(cudaDeviceSynchronize(), run_step::synchronise);
}

// The end over all sets, so that the region is pinned once: pinning takes longer than a copy.
std::uint64_t server::end_of_stores(std::uint32_t flags) const
{
    std::uint64_t end = 0;
    for (const auto &[number, s] : sets_)
        for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
            if ((flags & writable_only) && s.descriptors[i].read_only) continue;
            std::uint64_t bytes = 0;
            for (const buffer &b : s.buffers[i]) bytes += b.image_bytes();
            end = std::max(end, s.descriptors[i].output_at + bytes);
        }
    return end;
}

// Pins the output region, so that large results are copied back faster; if that fails, they come
// back slower. The range is one piece, because no copy may cross two pinned ranges.
void server::pin_output(std::uint64_t end)
{
    constexpr std::uint64_t step = 64 << 20;
    if (is_ != part::all || end <= (pinned_ ? pinned_ : step / 4)) return;
    if (pinned_ > 0) cudaHostUnregister(output_.data());
    pinned_ = std::min((end + step - 1) / step * step, output_.size());
    if (cudaHostRegister(output_.data(), pinned_, cudaHostRegisterDefault) == cudaSuccess) return;
    cudaGetLastError();
    pinned_ = output_.size(); // do not try again
}

void server::store(const request &r, reply &a)
{
    if (gate_) put(a.refused, gate_->take_refused().c_str());
    argument_set *s = find(r.set, a);
    if (!s) return;
    if (!at_end_.empty()) {
        const auto now = digests(*s);
        const auto changed = std::mismatch(at_end_.begin(), at_end_.end(), now.begin(), now.end());
        if (changed.second != now.end())
            a.changed_late = static_cast<std::uint32_t>(changed.second - now.begin()) + 1;
        at_end_.clear();
    }
    pin_output(end_of_stores(r.flags));
    for (std::size_t i = 0; i < s->descriptors.size(); ++i) {
        if ((r.flags & writable_only) && s->descriptors[i].read_only) continue;
        std::uint64_t at = s->descriptors[i].output_at;
        for (buffer &b : s->buffers[i]) {
            std::byte *to = out(at, b.image_bytes());
            if (!to) return malformed(a, "an argument does not fit the output region");
            b.store(to);
            at += b.image_bytes();
        }
    }
}

} // namespace grading
