// Builds the opcode table from the handlers compiled for the best instruction set of this CPU.
#include "draft.hpp"
#include "simulator/core/decode.hpp"
#include "simulator/lanes/handler_table.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace simulator::core {
namespace {

using does = instruction_role::kind;

// Classifies a handler by its name: a PTX opcode for arithmetic, otherwise one of the simulator's
// own, such as "core.resize".
does kind_named(std::string_view name)
{
    const auto begins = [&](std::initializer_list<std::string_view> all) {
        return std::ranges::any_of(all,
                                   [&](std::string_view start) { return name.starts_with(start); });
    };
    if (begins({"load."})) return does::load;
    if (begins({"store."})) return does::store;
    if (begins({"selp."})) return does::select;
    if (begins({"and.", "or."})) return does::absorb;
    if (begins({"setp.", "half.setp."})) return does::compare;
    const bool carries = begins({"addc", "subc", "madc"}) || name.find(".cc.") != name.npos;
    if (carries || begins({"atomic.", "argument.", "parameter"})) return does::other;
    const bool moves =
        begins({"core.resize", "core.extend", "core.pack", "core.unpack", "core.relu",
                "core.special", "core.local_address", "core.activemask", "core.isspacep"});
    return moves || !begins({"core."}) ? does::compute : does::other;
}

#if defined(__x86_64__)
// __builtin_cpu_supports does not know f16c in clang before version 16.
bool has_f16c()
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

class opcode_table final : public handler_sink {
public:
    opcode_table()
    {
        list_warp_handlers(*this);
        list_texture_handlers(*this);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2") && has_f16c())
            x86_64_v3::list_handlers(*this);
        else
            x86_64_v2::list_handlers(*this);
#else
        baseline::list_handlers(*this);
#endif
    }

    handler find(std::string_view name) const
    {
        auto it = rows_.find(std::string(name));
        return it == rows_.end() ? nullptr : it->second;
    }

    struct facts {
        does kind = does::other;
        operand_needs needs;
        instruction_weight weight;
    };
    const facts &of(handler h) const
    {
        static const facts none;
        auto it = facts_.find(h);
        return it == facts_.end() ? none : it->second;
    }

    void add(const char *op, const char *type, handler h) override
    {
        put(std::string(op) + "." + type, h);
    }
    void add(const char *op, const char *a, const char *b, handler h) override
    {
        put(std::string(op) + "." + a + "." + b, h);
    }
    void add(const char *op, const char *a, const char *b, const char *c, handler h) override
    {
        put(std::string(op) + "." + a + "." + b + "." + c, h);
    }

    std::set<std::string> opcodes() const
    {
        std::set<std::string> all;
        for (const auto &[name, h] : rows_) all.insert(name.substr(0, name.find('.')));
        return all;
    }

private:
    void put(const std::string &name, handler h)
    {
        rows_.emplace(name, h);
        facts_.try_emplace(h, facts{kind_named(name), needs_of(name), weight_of(name)});
    }

    std::unordered_map<std::string, handler> rows_;
    std::unordered_map<handler, facts> facts_;
};

const opcode_table &table()
{
    static const opcode_table instance;
    return instance;
}

} // namespace

handler find_handler(std::string_view opcode) { return table().find(opcode); }

instruction_role::kind kind_of(handler h) { return table().of(h).kind; }

const operand_needs &needs_of(handler h) { return table().of(h).needs; }

instruction_weight weight_of(handler h) { return table().of(h).weight; }

std::set<std::string> handled_opcodes() { return table().opcodes(); }

} // namespace simulator::core
