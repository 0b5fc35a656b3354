// Report at the end of a program without a harness: findings and, on request, counters.
#include "runtime.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"

#include <cstdio>
#include <cstdlib>

namespace simulator::runtime {

namespace {

const char *name_of(finding_kind kind)
{
    switch (kind) {
    case finding_kind::out_of_bounds:
        return "out of bounds";
    case finding_kind::use_after_free:
        return "use after free";
    case finding_kind::host_pointer:
        return "host pointer in a kernel";
    case finding_kind::null_pointer:
        return "null pointer";
    case finding_kind::misaligned:
        return "misaligned access";
    case finding_kind::uninitialised:
        return "read of memory that nobody wrote";
    case finding_kind::read_only:
        return "write to constant memory";
    case finding_kind::race:
        return "race";
    case finding_kind::barrier:
        return "barrier";
    case finding_kind::endless:
        return "kernel without an end";
    case finding_kind::trap:
        return "trap";
    case finding_kind::unsupported:
        return "unsupported";
    case finding_kind::refused_launch:
        return "launch refused";
    case finding_kind::non_global_argument:
        return "pointer to memory of its own given to a child";
    case finding_kind::unwatched:
        return "races not looked for to the end";
    case finding_kind::failed_call:
        return "call failed";
    case finding_kind::older_value:
        return "older value seen";
    }
    return "unknown finding";
}

std::string text_of(dim d)
{
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) +
           ")";
}

std::string text_of(const finding &f)
{
    std::string text = name_of(f.kind);
    if (!f.kernel.empty()) text += " in " + f.kernel;
    if (!f.file.empty()) text += ", " + f.file + ":" + std::to_string(f.line);
    // A place outside kernels has no thread.
    if (f.line) text += ", block " + text_of(f.block) + ", thread " + text_of(f.thread);
    if (f.kind == finding_kind::barrier || (f.host_call && !f.where.empty()))
        text += ": " + f.where;
    else if (!f.where.empty())
        text += std::string(": ") + (f.write ? "writes " : "reads ") + std::to_string(f.bytes) +
                " bytes, " + f.where;
    if (!f.detail.empty()) text += ": " + f.detail;
    if (f.threads > 1) text += " (" + std::to_string(f.threads) + " accesses)";
    return text;
}

void report()
{
    if (!has_harness())
        for (const finding &f : findings::instance().all()) complain(text_of(f));
    if (std::getenv("SIMULATOR_COUNTERS"))
        std::fputs((counters::instance().json() + "\n").c_str(), stderr);
}

} // namespace

void report_at_exit()
{
    static const bool once = std::atexit(report) == 0;
    if (!once) complain("cannot report findings at the end of the program");
}

} // namespace simulator::runtime
