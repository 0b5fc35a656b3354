// The opcode table, filled with the handlers of the best instruction set this processor has.
#include "core_decode.hpp"
#include "core_levels.hpp"
#include "core_textures.hpp"
#include "core_warp.hpp"

#include <string>
#include <unordered_map>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace simulator::core {
namespace {

#if defined(__x86_64__)
// __builtin_cpu_supports does not know f16c in clang before version 16.
bool converts_halves()
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

class table final : public handler_sink {
public:
    table()
    {
        list_warp_handlers(*this);
        list_texture_handlers(*this);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2") && converts_halves()) {
            x86_64_v3::list_arithmetic(*this);
            x86_64_v3::list_accesses(*this);
            x86_64_v3::list_halves(*this);
        } else {
            x86_64_v2::list_arithmetic(*this);
            x86_64_v2::list_accesses(*this);
            x86_64_v2::list_halves(*this);
        }
#else
        baseline::list_arithmetic(*this);
        baseline::list_accesses(*this);
        baseline::list_halves(*this);
#endif
    }

    handler find(std::string_view name) const
    {
        auto it = rows_.find(std::string(name));
        return it == rows_.end() ? nullptr : it->second;
    }

    void add(const char *op, const char *type, handler h) override
    {
        rows_.emplace(std::string(op) + "." + type, h);
    }
    void add_rounded(const char *op, const char *how, const char *tail, handler h) override
    {
        rows_.emplace(std::string(op) + how + tail, h);
    }
    void add_pair(const char *op, const char *a, const char *b, handler h) override
    {
        rows_.emplace(std::string(op) + "." + a + "." + b, h);
    }
    void add_pair(const char *op, const char *a, const char *b, const char *c, handler h) override
    {
        rows_.emplace(std::string(op) + "." + a + "." + b + "." + c, h);
    }

    std::set<std::string> opcodes() const
    {
        std::set<std::string> all;
        for (const auto &[name, h] : rows_) all.insert(name.substr(0, name.find('.')));
        return all;
    }

private:
    std::unordered_map<std::string, handler> rows_;
};

} // namespace

namespace {

const table &rows()
{
    static const table one;
    return one;
}

} // namespace

handler find_handler(std::string_view opcode) { return rows().find(opcode); }

std::set<std::string> handled_opcodes() { return rows().opcodes(); }

} // namespace simulator::core
