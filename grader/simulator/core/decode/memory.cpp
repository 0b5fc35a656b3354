// Decodes loads, stores, atomics and the instructions that make addresses.
#include "decoder.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <span>

namespace simulator::core::decoding {
namespace {

bool is_operation(std::string_view p)
{
    static const std::set<std::string_view> names = {"add", "min",  "max", "and", "or",
                                                     "xor", "exch", "cas", "inc", "dec"};
    return names.count(p) != 0;
}

const char *space_name(ptx::space s)
{
    switch (s) {
    case ptx::space::global:
        return "global";
    case ptx::space::shared:
        return "shared";
    case ptx::space::local:
        return "local";
    case ptx::space::constant:
        return "const";
    default:
        return "generic";
    }
}

std::int64_t offset_within(const draft &d, const std::pair<std::uint32_t, std::uint32_t> &variable,
                           const ptx::operand &address)
{
    std::uint64_t bytes = std::uint64_t{d.ins.bytes} * d.ins.count;
    if (bytes > variable.second || address.bits > variable.second - bytes)
        throw unknown_instruction{};
    return static_cast<std::int64_t>(variable.first + address.bits);
}

} // namespace

// Modifiers that select no handler: memory orders and scopes, of which parts_of records those that
// matter to race detection, and cache hints, which have no effect because no caches are simulated.
bool is_hint(std::string_view p)
{
    static const std::set<std::string_view> names = {
        "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "gpu",
        "sys",      "cta",     "cluster", "ca",      "cg",      "cs",   "lu",
        "cv",       "wb",      "wt",      "nc",      "noftz",   "mmio"};
    return names.count(p) != 0 || p.starts_with("L1::") || p.starts_with("L2::");
}

const char *fence_of(const statement &s)
{
    return has_part(s, "cta") ? "core.block_fence" : "core.fence";
}

access_parts parts_of(const statement &s)
{
    access_parts p;
    for (std::size_t k = 1; k < s.op.size(); ++k) {
        auto part = s.op[k];
        p.is_volatile |= part == "volatile";
        p.block_scope |= part == "cta";
        p.releases |= part == "release" || part == "acq_rel";
        p.acquires |= part == "acquire" || part == "acq_rel";
        p.strong |=
            p.is_volatile || p.releases || p.acquires || part == "relaxed" || part == "mmio";
        if (part == "global")
            p.space = ptx::space::global;
        else if (part == "shared" || part == "shared::cta")
            p.space = ptx::space::shared;
        else if (part == "local")
            p.space = ptx::space::local;
        else if (part == "const")
            p.space = ptx::space::constant;
        else if (part == "param" || part == "param::entry" || part == "param::func")
            p.space = ptx::space::param;
        else if (part == "v2")
            p.count = 2;
        else if (part == "v4")
            p.count = 4;
        else if (auto t = ptx::type_named(part); t != type::none)
            p.type = t;
        else if (is_operation(part))
            p.operation = part;
        else if (!is_hint(part))
            throw unknown_instruction{};
    }
    if (p.type == type::none || p.type == type::pred || p.type == type::b128)
        throw unknown_instruction{};
    return p;
}

decoder::effective_address decoder::address_of(const ptx::operand &o)
{
    if (o.what != kind::address || !o.elements.empty() || o.negated || o.real != 0)
        throw unknown_instruction{};
    const auto offset = static_cast<std::int64_t>(o.bits);
    if (!o.name.empty()) return {source_symbol(o.name, 0, type::u64), offset};
    if (o.id < 0) return {constant(o.bits, register_class::wide), 0};
    return {static_cast<operand>(o.id), offset};
}

void decoder::set_address(draft &d, const ptx::operand &o)
{
    const auto [base, offset] = address_of(o);
    d.ins.a = base;
    d.ins.offset = offset;
    const auto found = is_register(base) ? classes_[base] : constant_classes_.at(base);
    if (found == register_class::wide) d.ins.wide |= 2;
}

// Sets the data operand, one register or a list, and its width.
void decoder::set_data(draft &d, const ptx::operand &data, const access_parts &p, bool store)
{
    const bool vector = data.what == kind::vector;
    const auto elements = vector ? std::span(data.elements) : std::span(&data, 1);
    const bool wide = is_wide(p.type) || std::ranges::any_of(elements, [&](const ptx::operand &e) {
                          return e.what == kind::reg && classes_[e.id] == register_class::wide;
                      });
    type as = wide ? (is_signed(p.type) ? type::s64 : type::u64) : p.type;
    if (!wide && ptx::size_of(p.type) < 4) as = is_signed(p.type) ? type::s32 : type::u32;
    auto one = [&](const ptx::operand &e) {
        if (!store && vector && e.what == kind::discard) return no_operand;
        if (!store) return destination(e, as);
        if (e.what == kind::immediate) return constant(immediate_bits(e, p.type), class_of(as));
        return source(e, as);
    };
    if (vector) {
        if (static_cast<int>(elements.size()) != p.count) throw unknown_instruction{};
        std::vector<operand> list;
        for (const auto &e : elements) list.push_back(one(e));
        d.ins.extra = add_list(std::move(list));
        d.list = store ? draft::list_role::reads : draft::list_role::writes;
    } else {
        (store ? d.ins.b : d.ins.d) = one(data);
    }
    d.ins.count = static_cast<std::uint8_t>(p.count);
    d.ins.bytes = static_cast<std::uint8_t>(ptx::size_of(p.type));
    if (wide) d.ins.wide |= 1;
    if (is_signed(p.type)) d.ins.flags |= signed_value;
}

// An access without a state space whose address names a variable is in the variable's space.
void decoder::infer_space(access_parts &p, const ptx::operand &address) const
{
    if (p.space != ptx::space::generic || address.name.empty()) return;
    if (locals_.count(address.name) != 0) {
        p.space = ptx::space::local;
    } else if (const auto s = in_.find(address.name)) {
        if (s->what == symbol::kind::shared) p.space = ptx::space::shared;
        if (s->what == symbol::kind::constant) p.space = ptx::space::constant;
    }
}

void decoder::decode_load_or_store(const statement &s)
{
    access_parts p = parts_of(s);
    bool store = s.op[0] == "st";
    const auto &address = operand_at(s, store ? 0 : 1), &data = operand_at(s, store ? 1 : 0);
    infer_space(p, address);
    draft d;
    d.ins.site = out_.sites++;
    set_data(d, data, p, store);
    std::string width = (d.ins.wide & 1) != 0 ? "8" : "4";
    if (p.space == ptx::space::param) {
        decode_param_access(d, address, store, width);
        return;
    }
    set_address(d, address);
    std::string name = std::string(store ? "store." : "load.") + space_name(p.space) + "." +
                       std::to_string(d.ins.bytes) + "x" + width;
    if (p.strong) d.ins.flags |= strong;
    if (guesses_[current_] != 0) d.ins.flags |= guess;
    if (p.is_volatile) d.ins.wide |= 4;
    if (p.block_scope) d.ins.wide |= 8;
    if (p.releases) emit(fence_of(s));
    emit(d, name);
    if (p.acquires) emit("core.acquire").ins.wide = p.block_scope ? 8 : 0;
}

void decoder::decode_param_access(draft &d, const ptx::operand &address, bool store,
                                  const std::string &width)
{
    if (auto a = arguments_.find(address.name); a != arguments_.end()) {
        d.ins.offset = offset_within(d, a->second, address);
        emit(d, (store ? "argument.store." : "argument.load.") + width);
    } else if (auto p = own_parameters_.find(address.name); p != own_parameters_.end()) {
        d.ins.offset = offset_within(d, p->second, address);
        bool entry = in_.source->entry;
        if (entry && store) throw unknown_instruction{};
        emit(d, (entry ? "parameter." : store ? "argument.store." : "argument.load.") + width);
    } else if (address.name.empty() && !store && in_.source->entry) {
        set_address(d, address);
        emit(d, "parameter_at." + width);
    } else {
        throw unknown_instruction{};
    }
}

void decoder::decode_atomic(const statement &s)
{
    access_parts p = parts_of(s);
    bool result = s.op[0] == "atom";
    std::size_t at = result ? 1 : 0;
    type t = p.type;
    std::string type_name;
    for (auto part : s.op)
        if (ptx::type_named(part) == t) type_name = part;
    bool bitwise = p.operation == "and" || p.operation == "or" || p.operation == "xor" ||
                   p.operation == "exch" || p.operation == "cas";
    if (bitwise) type_name = "b" + std::to_string(8 * ptx::size_of(t));
    infer_space(p, operand_at(s, at));
    draft d;
    d.ins.site = out_.sites++;
    set_address(d, operand_at(s, at));
    d.ins.b = source(operand_at(s, at + 1), t);
    if (p.operation == "cas") d.ins.c = source(operand_at(s, at + 2), t);
    if (result && s.operands[0].what != kind::discard) d.ins.d = destination(s.operands[0], t);
    d.ins.bytes = static_cast<std::uint8_t>(ptx::size_of(t));
    d.ins.count = 1;
    d.ins.flags |= strong;
    if (p.block_scope) d.ins.wide |= 8;
    if (p.releases) emit(fence_of(s));
    emit(d, std::string("atomic.") + space_name(p.space) + "." + p.operation + "." + type_name);
    if (p.acquires) emit("core.acquire").ins.wide = p.block_scope ? 8 : 0;
}

// alloca.u64 pointer, bytes, alignment
void decoder::decode_alloca(const statement &s)
{
    if (s.op.size() != 2 || s.op[1] != "u64") throw unknown_instruction{};
    std::uint64_t align = 8;
    if (s.operands.size() > 2) {
        const auto &given = operand_at(s, 2);
        if (given.what != kind::immediate || given.real != 0) throw unknown_instruction{};
        align = given.bits;
    }
    if (!std::has_single_bit(align) || align > max_local_bytes) throw unknown_instruction{};
    const operand bytes = source(operand_at(s, 1), type::u64);
    const operand to = destination(operand_at(s, 0), type::u64);
    emit("core.alloca", to, {bytes}).ins.offset = static_cast<std::int64_t>(align);
}

void decoder::decode_cvta(const statement &s)
{
    type t = last_type(s);
    bool to = has_part(s, "to");
    const std::uint64_t window = in_shared(s)           ? shared_window
                                 : has_part(s, "local") ? local_window
                                 : has_part(s, "param") ? param_window
                                                        : 0;
    const operand a = source(operand_at(s, 1), t), d = destination(operand_at(s, 0), t);
    if (window == 0)
        emit("mov.u64", d, {a});
    else
        emit(to ? "sub.u64" : "add.u64", d, {a, constant(window, register_class::wide)});
}

void decoder::decode_isspacep(const statement &s)
{
    const operand a = source(operand_at(s, 1), type::u64),
                  d = destination(operand_at(s, 0), type::pred);
    const auto where = part(s, 1);
    emit("core.isspacep", d, {a}).ins.extra = where.starts_with("shared") ? 1
                                              : where == "local"          ? 2
                                              : where == "param"          ? 3
                                              : where == "const"          ? 4
                                                                          : 0;
}

} // namespace simulator::core::decoding
