// The findings of this process, merged by kind and place.
#include "finding.hpp"

#include <algorithm>

namespace simulator {

namespace {

thread_local std::atomic<bool> *trapped = nullptr;

} // namespace

finding_trap::finding_trap(std::atomic<bool> &found) { trapped = &found; }
finding_trap::~finding_trap() { trapped = nullptr; }

findings &findings::instance()
{
    // Never destroyed: kernels may still run while static objects go.
    static findings *const one = new findings;
    return *one;
}

void findings::add(finding f)
{
    if (trapped != nullptr) {
        *trapped = true;
        return;
    }
    std::lock_guard lock(mutex_);
    const auto same_place = [&f](const finding &g) {
        return g.kind == f.kind && g.line == f.line && g.write == f.write && g.kernel == f.kernel &&
               g.file == f.file && (f.line != 0 || g.detail == f.detail);
    };
    auto it = std::find_if(found_.begin(), found_.end(), same_place);
    if (it != found_.end())
        it->threads += f.threads;
    else
        found_.push_back(std::move(f));
}

void findings::withdraw(finding_kind kind, const std::string &kernel, const std::string &file,
                        int line)
{
    if (trapped != nullptr) return;
    std::lock_guard lock(mutex_);
    std::erase_if(found_, [&](const finding &f) {
        return f.kind == kind && f.line == line && f.kernel == kernel && f.file == file;
    });
}

void findings::clear()
{
    std::lock_guard lock(mutex_);
    found_.clear();
}

std::vector<finding> findings::all() const
{
    std::lock_guard lock(mutex_);
    return found_;
}

bool findings::empty() const
{
    std::lock_guard lock(mutex_);
    return found_.empty();
}

} // namespace simulator
