// Splits a request between the process with the host code and those with simulated devices.
#include "worker_state.hpp"

#include <algorithm>
#include <span>

namespace grading {

namespace {

// Copies the image of an argument from one shared memory to the same offset in another.
void copy_image(const argument_descriptor &s, std::uint64_t at, const shared_memory &from,
                const shared_memory &to)
{
    const std::uint64_t bytes = s.bytes + (s.where == argument_memory::value ? 0 : 2 * s.guard);
    std::copy_n(from.data() + at, bytes, to.data() + at);
}

} // namespace

// The devices copy device arguments from `input`, which the host code cannot map. The host code
// gets only the arguments that lie on the host, and the addresses of the others. If only the size
// of scratch is asked for, the host code alone answers.
answer worker::state::load(request what, std::chrono::milliseconds limit)
{
    const std::span<const argument_descriptor> arguments(what.arguments, what.argument_count);
    for (const argument_descriptor &s : arguments)
        if (with_host_code(s.where) && s.where != argument_memory::absent)
            copy_image(s, s.input, *input, *host_input);
    if (what.what == command::scratch) return ask(host, what, limit);
    if (std::any_of(arguments.begin(), arguments.end(),
                    [](const argument_descriptor &s) { return s.scratch; })) {
        request scratch = what;
        scratch.what = command::scratch;
        const answer a = ask(host, scratch, limit);
        if (!succeeded(a)) return a;
        what.scratch_bytes = a.value.bytes;
    }
    answer of_device = ask_devices(what, limit);
    if (!succeeded(of_device)) return of_device;
    std::ranges::copy(of_device.value.buffers, what.buffers);
    sets[what.set].assign(arguments.begin(), arguments.end());
    answer a = ask(host, what, limit);
    a.value.bytes = what.scratch_bytes;
    return a;
}

// Asks all device processes. Returns the first rank's answer, or that of the first rank with a
// failure. Only the first rank has arguments.
answer worker::state::ask_devices(const request &what, std::chrono::milliseconds limit)
{
    answer result;
    for (std::size_t k = devices.size(); k-- > 0;) {
        request one = what;
        if (k > 0)
            for (argument_descriptor &s : std::span(one.arguments, one.argument_count))
                s.where = argument_memory::absent, s.scratch = 0;
        if (what.what == command::report) one.offset += k * what.bytes;
        answer a = ask(devices[k], one, limit);
        if (a.how != worker_exit::answered) return a;
        if (devices.size() > 1) a.rank = static_cast<int>(k);
        const bool last = k + 1 == devices.size();
        if (last || !succeeded(a) || succeeded(result)) result = a;
    }
    return result;
}

answer worker::state::run(const request &what, std::chrono::milliseconds limit)
{
    request of_devices = what;
    of_devices.what = command::begin;
    const answer begun = ask_devices(of_devices, limit);
    if (!succeeded(begun)) return begun;
    if (what.bytes > 0 && devices.size() == 1) {
        crash_report_request = what;
        crash_report_request->what = command::report;
    }
    answer a = ask(host, what, limit);
    crash_report_request.reset();
    if (a.how != worker_exit::answered) return a;
    of_devices.what = command::end;
    answer ended = ask_devices(of_devices, limit);
    if (ended.how != worker_exit::answered) return ended;
    if (!succeeded(ended) && ended.value.status != reply_status::cuda_error) {
        stop();
        return ended;
    }
    std::ranges::copy(begun.value.refused, a.value.refused);
    // A kernel's fault explains the error that the host code saw, so it replaces that error.
    const bool fault = ended.value.status == reply_status::cuda_error;
    if (!fault || a.value.status == reply_status::exception) return a;
    a.value.status = ended.value.status;
    a.value.error = ended.value.error;
    a.value.step = ended.value.step;
    std::ranges::copy(ended.value.error_name, a.value.error_name);
    std::ranges::copy(ended.value.text, a.value.text);
    a.value.rank = a.rank = ended.rank;
    return a;
}

answer worker::state::store(const request &what, std::chrono::milliseconds limit)
{
    const answer of_device = ask(devices[0], what, limit);
    if (!succeeded(of_device)) return of_device;
    answer a = ask(host, what, limit);
    if (!succeeded(a)) return a;
    for (const argument_descriptor &s : sets[what.set])
        if (with_host_code(s.where) && s.where != argument_memory::value &&
            s.where != argument_memory::absent && !((what.flags & writable_only) && s.read_only))
            copy_image(s, s.output_at, *host_output, *output);
    a.value.changed_late = std::max(a.value.changed_late, of_device.value.changed_late);
    std::ranges::copy(of_device.value.refused, a.value.refused);
    return a;
}

answer worker::state::ask_both(const request &what, std::chrono::milliseconds limit)
{
    switch (what.what) {
    case command::load:
    case command::scratch:
        return load(what, limit);
    case command::run:
        return run(what, limit);
    case command::store:
        return store(what, limit);
    case command::patch: {
        const auto at = sets.find(what.set);
        const bool of_host = at != sets.end() && what.index < at->second.size() &&
                             with_host_code(at->second[what.index].where);
        if (!of_host) return ask(devices[0], what, limit);
        std::copy_n(input->data() + what.offset, what.bytes, host_input->data() + what.offset);
        return ask(host, what, limit);
    }
    case command::drop: {
        sets.erase(what.set);
        const answer a = ask(host, what, limit);
        return succeeded(a) ? ask_devices(what, limit) : a;
    }
    case command::try_sandbox:
        std::copy_n(input->data() + what.offset, what.bytes, host_input->data() + what.offset);
        return ask(host, what, limit);
    case command::report:
        return ask_devices(what, limit);
    default:
        return ask(devices[0], what, limit);
    }
}

} // namespace grading
