// Decodes a function: its variables, its statements one by one, and their source locations.
#include "decoder.hpp"

#include <algorithm>
#include <unordered_map>

namespace simulator::core::decoding {
namespace {

constexpr std::uint64_t max_arguments = 64 << 10; // bytes of a function's parameters and calls

// Returns the file and line that messages give for a location: the innermost of its inlining chain
// that is in the directory of the function's own file. Thus code inlined from a header of the
// program counts at its own line, and code inlined from the toolkit at the line of the call.
source_line reported_line(const ptx::body &b, const ptx::module_text &m, int location, int first)
{
    if (location < 0) return {};
    auto file_of = [&](int p) {
        auto f = m.files.find(b.locations[p].file);
        return f == m.files.end() ? std::string() : f->second;
    };
    auto directory = [](const std::string &f) { return f.substr(0, f.rfind('/') + 1); };
    std::string home = first < 0 ? "" : directory(file_of(first));
    int p = location;
    while (b.locations[p].parent >= 0 && b.locations[p].parent != p &&
           directory(file_of(p)) != home)
        p = b.locations[p].parent;
    return {file_of(p), b.locations[p].line};
}

} // namespace

void decoder::run()
{
    for (auto t : out_.body.registers) classes_.push_back(class_of(t));
    types_ = out_.body.registers;
    guesses_ = guessing_loads(out_.body);
    lay_out_variables();
    find_leaders();
    for (std::size_t s = 0; s <= out_.body.statements.size(); ++s) decode_at(s);
    link_blocks();
    finish();
}

void decoder::lay_out_variables()
{
    const std::string name = demangled_name(in_.source->name);
    const bool entry = in_.source->entry;
    area calls("Function " + name + " has more parameters and arguments of calls than fit",
               max_arguments);
    area launch("Kernel " + name + " has more parameters than a launch can take", max_parameters);
    area local("Function " + name + " has more local memory than a thread can have",
               max_local_bytes);
    for (const auto &v : in_.source->parameters) {
        out_.parameter_offsets.push_back((entry ? launch : calls).place(v));
        own_parameters_[v.name] = {out_.parameter_offsets.back(),
                                   static_cast<std::uint32_t>(v.bytes)};
    }
    for (const auto &v : in_.source->results) {
        out_.result_offsets.push_back(calls.place(v));
        arguments_[v.name] = {out_.result_offsets.back(), static_cast<std::uint32_t>(v.bytes)};
    }
    for (const auto &v : out_.body.variables) {
        if (v.space == ptx::space::param) {
            auto &slot = arguments_[v.name];
            if (slot.second < v.bytes) slot = {calls.place(v), static_cast<std::uint32_t>(v.bytes)};
        } else if (v.space == ptx::space::local) {
            locals_[v.name] = local.place(v);
        }
    }
    local.align(16);
    calls.align(16);
    out_.local_bytes = local.bytes();
    out_.argument_bytes = calls.bytes();
}

void decoder::decode_straight_line(const statement &s)
{
    std::size_t before = drafts_.size();
    guard_ = s.guard < 0 ? no_operand : static_cast<operand>(s.guard);
    guard_flip_ = s.guard_negated ? all_lanes : 0;
    try {
        decode_by_opcode(s);
        finish_destinations();
        check_operands(before);
        if (drafts_.size() > before) drafts_[before].ins.begins = true;
    } catch (const unknown_instruction &) {
        drafts_.resize(before);
        pending_resize_.clear();
        emit("core.unsupported");
    }
    guard_ = no_operand;
}

void decoder::decode_by_opcode(const statement &s)
{
    auto op = s.op[0];
    if (op == "ld" || op == "ldu" || op == "st") return decode_load_or_store(s);
    if (op == "atom" || op == "red") return decode_atomic(s);
    if (op == "cp") return decode_copy(s);
    if (op == "mbarrier") return decode_mbarrier(s);
    if (op == "alloca") return decode_alloca(s);
    if (op == "tex") return decode_texture(s);
    if (op == "suld" || op == "sust") return decode_surface(s);
    if (op == "mov") return decode_mov(s);
    if (op == "cvta") return decode_cvta(s);
    if (op == "cvt") return decode_cvt(s);
    if (op == "setp" || op == "set") return decode_compare(s);
    if (op == "fence" || op == "membar") {
        emit(fence_of(s));
        return;
    }
    // No caches are simulated, and a grid starts only when those it depends on have completed.
    if (op == "prefetch" || op == "prefetchu" || op == "discard" || op == "applypriority" ||
        op == "griddepcontrol")
        return;
    if (op == "isspacep") return decode_isspacep(s);
    if (op == "trap" || op == "brkpt") {
        emit("core." + std::string(op));
        return;
    }
    if (op == "activemask") {
        emit("core.activemask", destination(operand_at(s, 0), type::u32));
        return;
    }
    if (type t = last_type(s); is_half(t)) return decode_half(s, t);
    if (op == "createpolicy") // a cache hint, without effect
        return move_to(operand_at(s, 0), type::b64, constant(0, register_class::wide));
    const std::string name = s.opcode();
    if (name == "add.sat.s32" || name == "sub.sat.s32") return decode_saturated(s);
    if (s.op[0].starts_with("v") && s.op[0] != "vabsdiff4") return decode_video(s);
    decode_plain(s);
}

void decoder::finish()
{
    mark_moves();
    set_roles();
    out_.register_bytes = allocate_registers(drafts_, out_.lists, out_.blocks, classes_);
    out_.instructions.reserve(drafts_.size());
    for (auto &d : drafts_) out_.instructions.push_back(d.ins);
    for (auto &list : out_.lists) out_.list_pointers.push_back(list.data());
    for (auto &b : out_.blocks) {
        b.terminator = b.last;
        weigh(b, out_.instructions);
    }
    set_source_locations();
    std::size_t n = out_.body.statements.size() + 1;
    out_.counts.lanes_off.assign(n, 0);
    out_.counts.counted.assign(n, {});
    out_.counts.memos.assign(out_.sites, {});
    out_.counts.worst.assign(out_.sites, {});
    out_.counts.runs.assign(out_.blocks.size(), 0);
    out_.counts.lanes_run.assign(out_.blocks.size(), 0);
}

void decoder::set_roles()
{
    std::vector<char> read(classes_.size(), 0);
    for (const draft &d : drafts_) each_read(d, out_.lists, [&](operand o) { read[o] = 1; });
    for (const draft &d : drafts_) {
        instruction_role r;
        r.does = kind_of(d.ins.run);
        r.writes_d = d.writes_d;
        r.reads_extra = d.extra_reads;
        r.writes_offset = d.offset_writes;
        r.reads_list = d.list == draft::list_role::reads;
        r.writes_list = d.list == draft::list_role::writes;
        if (r.does == instruction_role::kind::load)
            each_write(d, out_.lists, [&](operand o) { r.followed |= read[o] != 0; });
        out_.roles.push_back(r);
    }
}

void decoder::set_source_locations()
{
    int first = -1;
    for (const auto &s : out_.body.statements)
        if (first < 0 && s.location >= 0) first = s.location;
    std::unordered_map<int, int> known;
    for (const auto &s : out_.body.statements) {
        auto [it, fresh] = known.try_emplace(s.location, static_cast<int>(out_.locations.size()));
        if (fresh)
            out_.locations.push_back(reported_line(out_.body, *in_.module, s.location, first));
        out_.location_of_statement.push_back(it->second);
    }
    if (out_.locations.empty()) out_.locations.push_back({});
    out_.location_of_statement.push_back(
        out_.location_of_statement.empty() ? 0 : out_.location_of_statement.back());
}

} // namespace simulator::core::decoding

namespace simulator::core {

std::uint32_t area::place(const ptx::variable &v)
{
    align(v.align);
    const std::uint64_t at = end_;
    if (v.bytes > max_ || at > max_ - v.bytes)
        throw ptx::refused(what_ + ": " + std::to_string(at + v.bytes) + " bytes, and " +
                           std::to_string(max_) + " is the most (PTX line " +
                           std::to_string(v.text_line) + ")");
    end_ += v.bytes;
    return static_cast<std::uint32_t>(at);
}

void area::align(std::uint32_t to)
{
    const std::uint64_t unit = std::max(to, 1u);
    end_ = (end_ + unit - 1) / unit * unit;
}

register_class class_of(ptx::type t)
{
    if (t == ptx::type::pred) return register_class::predicate;
    return ptx::size_of(t) == 8 ? register_class::wide : register_class::narrow;
}

void decode(code &out, ptx::body body, const decode_input &input)
{
    out.source = input.source;
    out.body = std::move(body);
    decoding::decoder(out, input).run();
}

} // namespace simulator::core
