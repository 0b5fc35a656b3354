// The findings of this process, merged by kind and place.
#include "finding.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace simulator {

namespace {

// In relocatable code nvcc names static entities __nv_static_LENGTH__FILE_OF_THAT_LENGTH followed
// by the mangled name.
std::string without_file_prefix(const std::string &name)
{
    constexpr std::string_view prefix = "__nv_static_";
    if (!name.starts_with(prefix)) return name;
    const std::size_t start = name.find("_Z", prefix.size());
    return start == name.npos ? name : name.substr(start);
}

std::string demangled_text(const std::string &name)
{
    const std::string mangled = without_file_prefix(name);
    int status = 0;
    char *text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    if (text == nullptr) return mangled;
    std::string s = text;
    std::free(text);
    if (auto last = s.rfind(')');
        last != s.npos && last + 8 > s.size()) { // may be followed by " const"
        int depth = 0;
        for (std::size_t k = last + 1; k-- > 0;) {
            depth += s[k] == ')' ? 1 : s[k] == '(' ? -1 : 0;
            if (depth == 0) {
                s.resize(k);
                break;
            }
        }
    }
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t k = 0; k < s.size(); ++k) {
        if (s[k] == '<' || s[k] == '(') ++depth;
        if (s[k] == '>' || s[k] == ')') --depth;
        if (s[k] == ' ' && depth == 0) start = k + 1;
    }
    return s.substr(start);
}

} // namespace

std::string demangled_name(const std::string &name)
{
    constexpr std::size_t max_length = 500; // reports repeat it for each launch and line
    std::string words = demangled_text(name);
    if (words.size() > max_length) words.replace(max_length - 3, words.npos, "...");
    return words;
}

findings &findings::instance()
{
    // Never destroyed: kernels may still run during static destruction.
    static findings *const one = new findings;
    return *one;
}

void findings::add(finding f)
{
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
