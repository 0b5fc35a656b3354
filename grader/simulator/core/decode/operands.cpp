// Turns the operands of a statement into registers and constants.
#include "decoder.hpp"
#include "simulator/core/special_registers.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace simulator::core::decoding {
namespace {

// True if ptxas accepts the constant as an operand of the type: floating-point constants for .f32
// and .f64, integers for integers, and for .b32 and .b64 also the floating-point one of that size.
bool is_constant_of(const ptx::operand &o, type t)
{
    if (t == type::f32 || t == type::f64) return o.real != 0;
    if (t == type::b32 && o.real == 'f') return true;
    if (t == type::b64 && o.real == 'd') return true;
    return o.real == 0 && !is_half(t);
}

} // namespace

draft &decoder::emit(handler run, operand to, std::initializer_list<operand> sources)
{
    draft d;
    d.ins.run = run;
    d.ins.d = to;
    operand *in[] = {&d.ins.a, &d.ins.b, &d.ins.c};
    std::size_t k = 0;
    for (const operand o : sources) *in[k++] = o;
    d.ins.statement = current_;
    if (guard_ != no_operand) {
        d.ins.guard = guard_;
        d.ins.guard_flip = guard_flip_;
    }
    drafts_.push_back(d);
    return drafts_.back();
}

draft &decoder::emit(const std::string &opcode, operand to, std::initializer_list<operand> sources)
{
    return emit(handler_of(opcode), to, sources);
}

draft &decoder::emit(draft d, const std::string &opcode)
{
    draft &x = emit(opcode);
    d.ins.run = x.ins.run;
    d.ins.guard = x.ins.guard;
    d.ins.guard_flip = x.ins.guard_flip;
    d.ins.statement = x.ins.statement;
    return x = d;
}

handler decoder::handler_of(const std::string &opcode)
{
    handler h = find_handler(opcode);
    if (h == nullptr) throw unknown_instruction{};
    return h;
}

operand decoder::new_register(type t)
{
    classes_.push_back(class_of(t));
    types_.push_back(t);
    return static_cast<operand>(classes_.size() - 1);
}

operand decoder::constant(std::uint64_t bits, register_class c)
{
    const auto key = std::pair(bits, c);
    if (auto it = constants_.find(key); it != constants_.end()) return it->second;
    std::size_t element = c == register_class::wide ? 8 : 4,
                count = c == register_class::predicate ? 1 : 32;
    std::size_t at = (out_.constants.size() + 63) / 64 * 64;
    out_.constants.resize(at + element * count);
    for (std::size_t l = 0; l < count; ++l)
        std::memcpy(out_.constants.data() + at + l * element, &bits, element);
    const operand o = static_cast<operand>(at) | constant_bit;
    constant_classes_[o] = c;
    return constants_[key] = o;
}

std::uint32_t decoder::add_list(std::vector<operand> list)
{
    out_.lists.push_back(std::move(list));
    return static_cast<std::uint32_t>(out_.lists.size() - 1);
}

std::uint64_t immediate_bits(const ptx::operand &o, type t)
{
    if (!is_constant_of(o, t)) throw unknown_instruction{};
    std::uint64_t bits = o.bits;
    if (t == type::f32 && o.real == 'd')
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    else if (t == type::f64 && o.real == 'f')
        bits = std::bit_cast<std::uint64_t>(
            double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
    std::uint32_t size = ptx::size_of(t);
    if (size < 8) bits &= (std::uint64_t{1} << (8 * size)) - 1;
    return bits;
}

// Returns the operand as a register or constant of the class that `t` needs.
operand decoder::source(const ptx::operand &o, type t)
{
    if (o.negated && t != type::pred) throw unknown_instruction{};
    switch (o.what) {
    case kind::reg:
        return o.bits == 0 ? source_register(static_cast<operand>(o.id), t) : source_sum(o, t);
    case kind::immediate:
        if (t == type::pred && o.real == 0)
            return constant(o.bits != 0 ? all_lanes : 0, register_class::predicate);
        return constant(immediate_bits(o, t), class_of(t));
    case kind::special:
        return source_special(o, t);
    case kind::symbol:
        return source_symbol(o.name, o.bits, t);
    default:
        throw unknown_instruction{};
    }
}

operand decoder::source_register(operand id, type t)
{
    if (classes_[id] == class_of(t)) return id;
    if (classes_[id] == register_class::predicate || t == type::pred) throw unknown_instruction{};
    const operand r = new_register(t);
    resize(r, id, t);
    return r;
}

void decoder::resize(operand to, operand from, type t)
{
    draft &d = emit("core.resize", to, {from});
    d.ins.wide = classes_[to] == register_class::wide ? 1 : 2;
    d.ins.flags = is_signed(t) ? signed_value : 0;
}

// `r + 4` as a value: hand-written PTX uses it, and ptxas accepts it.
operand decoder::source_sum(const ptx::operand &o, type t)
{
    const std::uint32_t size = ptx::size_of(t);
    if (t == type::pred || t == type::f32 || t == type::f64 || is_half(t) || size < 2)
        throw unknown_instruction{};
    const operand a = source_register(static_cast<operand>(o.id), t);
    const operand b = constant(immediate_bits(o, t), class_of(t));
    return emit_value("add.u" + std::to_string(8 * size), t, {a, b});
}

operand decoder::source_special(const ptx::operand &o, type t)
{
    special s = special_named(o.name);
    if (s == special::unknown || o.bits != 0) throw unknown_instruction{};
    type natural = core::is_wide(s) ? type::u64 : type::u32;
    operand r = new_register(natural);
    draft &d = emit("core.special", r);
    d.ins.extra = static_cast<std::uint32_t>(s);
    d.ins.wide = core::is_wide(s) ? 1 : 0;
    return source_register(r, t);
}

operand decoder::source_symbol(const std::string &name, std::uint64_t addend, type t)
{
    if (auto l = locals_.find(name); l != locals_.end()) {
        operand r = new_register(t);
        draft &d = emit("core.local_address", r);
        d.ins.offset = static_cast<std::int64_t>(l->second + addend);
        d.ins.wide = is_wide(t) ? 1 : 0;
        return r;
    }
    if (auto p = own_parameters_.find(name); p != own_parameters_.end())
        return constant(p->second.first + addend, class_of(t));
    auto s = in_.find(name);
    if (!s)
        throw std::runtime_error("PTX line " +
                                 std::to_string(out_.body.statements[current_].text_line) +
                                 ": no symbol " + name);
    return constant(s->value + addend, class_of(t));
}

// Returns the register that an instruction of type `t` writes for `o`: o's own or, if its class
// differs, a new one, which finish_destinations() copies to it.
operand decoder::destination(const ptx::operand &o, type t)
{
    if (o.what == kind::discard) return new_register(t);
    if (o.what != kind::reg || o.bits != 0) throw unknown_instruction{};
    auto id = static_cast<operand>(o.id);
    if (classes_[id] == class_of(t)) return id;
    if (classes_[id] == register_class::predicate || t == type::pred) throw unknown_instruction{};
    operand r = new_register(t);
    pending_resize_.push_back({id, r, t});
    return r;
}

void decoder::finish_destinations()
{
    for (auto [to, from, t] : pending_resize_) resize(to, from, t);
    pending_resize_.clear();
}

// Emits an instruction with up to three sources, all of them registers or constants, and returns
// the new register that holds its result.
operand decoder::emit_value(const std::string &opcode, type t, std::initializer_list<operand> from,
                            std::uint32_t extra)
{
    const handler h = handler_of(opcode);
    const operand r = new_register(t);
    emit(h, r, from).ins.extra = extra;
    return r;
}

void decoder::move_to(const ptx::operand &to, type t, operand from)
{
    const operand d = destination(to, t);
    emit(is_wide(t) ? "mov.b64" : "mov.b32", d, {from});
}

// Stores the second result of `d|p`, a predicate register, in the offset.
void decoder::set_second_result(draft &d, const statement &s)
{
    d.offset_writes = s.paired && s.operands[1].what == kind::reg;
    d.ins.offset = d.offset_writes ? s.operands[1].id : -1;
}

void decoder::check_operands(std::size_t first) const
{
    const auto class_of_operand = [&](operand o) -> std::optional<register_class> {
        if (is_register(o)) return o < classes_.size() ? std::optional(classes_[o]) : std::nullopt;
        const auto k = constant_classes_.find(o);
        return k == constant_classes_.end() ? std::nullopt : std::optional(k->second);
    };
    for (std::size_t k = first; k < drafts_.size(); ++k)
        if (!fits(drafts_[k], needs_of(drafts_[k].ins.run), out_.lists, class_of_operand))
            throw unknown_instruction{};
}

} // namespace simulator::core::decoding
