// Decodes a function: splits it into basic blocks and finds each instruction's handler and
// operands.
#include "decode.hpp"
#include "cas_loops.hpp"
#include "copies.hpp"
#include "simulator/lanes/handler_table.hpp"
#include "specials.hpp"
#include "textures.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace simulator::core {
namespace {

using ptx::statement;
using ptx::type;
using kind = ptx::operand::kind;

constexpr std::uint64_t max_arguments = 64 << 10; // bytes of a function's parameters and calls

bool is_signed(type t)
{
    return t == type::s8 || t == type::s16 || t == type::s32 || t == type::s64;
}
bool is_wide(type t) { return ptx::size_of(t) == 8; }

type last_type(const statement &s) { return ptx::type_named(s.op.back()); }

class decoder {
public:
    decoder(code &out, const decode_input &input) : out_(out), in_(input) {}

    void run()
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

private:
    struct unknown {};                                      // the current instruction is unknown
    using extent = std::pair<std::uint32_t, std::uint32_t>; // offset, bytes

    static const ptx::operand &operand_at(const statement &s, std::size_t k)
    {
        if (k >= s.operands.size()) throw unknown{};
        return s.operands[k];
    }
    static std::string_view part(const statement &s, std::size_t k)
    {
        if (k >= s.op.size()) throw unknown{};
        return s.op[k];
    }

    // ---- variables of the function ----

    void lay_out_variables()
    {
        const std::string name = demangled_name(in_.source->name);
        const bool entry = in_.source->entry;
        area calls("Function " + name + " has more parameters and arguments of calls than fit",
                   max_arguments);
        area launch("Kernel " + name + " has more parameters than a launch can take",
                    max_parameters);
        area local("Function " + name + " has more local memory than a thread can have",
                   max_local_bytes);
        auto place = [&](const ptx::variable &v) { return calls.place(v); };
        for (const auto &v : in_.source->parameters) {
            out_.parameter_offsets.push_back((entry ? launch : calls).place(v));
            own_parameters_[v.name] = {out_.parameter_offsets.back(),
                                       static_cast<std::uint32_t>(v.bytes)};
        }
        for (const auto &v : in_.source->results) {
            out_.result_offsets.push_back(place(v));
            arguments_[v.name] = {out_.result_offsets.back(), static_cast<std::uint32_t>(v.bytes)};
        }
        for (const auto &v : out_.body.variables) {
            if (v.space == ptx::space::param) {
                auto &slot = arguments_[v.name];
                if (slot.second < v.bytes) slot = {place(v), static_cast<std::uint32_t>(v.bytes)};
            } else if (v.space == ptx::space::local) {
                locals_[v.name] = local.place(v);
            }
        }
        local.align(16);
        calls.align(16);
        out_.local_bytes = local.bytes();
        out_.argument_bytes = calls.bytes();
    }

    // ---- blocks ----

    static block_terminator terminator_of(const statement &s)
    {
        auto op = s.op[0];
        if (op == "bra") return block_terminator::branch;
        if (op == "brx") return block_terminator::table;
        if (op == "call") return block_terminator::call;
        if (op == "ret" || op == "exit") return block_terminator::leave;
        if (op == "nanosleep") return block_terminator::pause;
        if (op == "bar" || op == "barrier")
            return s.op.size() > 1 && s.op[1] == "warp" ? block_terminator::warp_sync
                                                        : block_terminator::barrier;
        if (op == "shfl" || op == "vote" || op == "match" || op == "redux")
            return block_terminator::warp_sync;
        return block_terminator::fall;
    }

    void find_leaders()
    {
        leaders_.assign(out_.body.statements.size() + 1, 0);
        leaders_[0] = 1;
        for (std::size_t s = 0; s < out_.body.statements.size(); ++s) {
            for (int t : out_.body.statements[s].targets) leaders_[t] = 1;
            if (terminator_of(out_.body.statements[s]) != block_terminator::fall)
                leaders_[s + 1] = 1;
        }
        leaders_.back() = 1;
        block_of_.assign(leaders_.size(), -1);
    }

    basic_block &block() { return out_.blocks.back(); }

    void open_block(std::size_t s)
    {
        if (!out_.blocks.empty() && !closed_) close(block_terminator::fall, s);
        basic_block b;
        b.first = static_cast<std::uint32_t>(drafts_.size());
        b.first_statement = b.last_statement = static_cast<std::uint32_t>(s);
        out_.blocks.push_back(b);
        closed_ = false;
    }

    // Closes the open block. `next` and `target` are statement indices until link_blocks.
    void close(block_terminator end, std::size_t next, int target = -1)
    {
        block().end = end;
        block().last =
            static_cast<std::uint32_t>(drafts_.size()) - (end == block_terminator::fall ? 0 : 1);
        block().next = end == block_terminator::leave || end == block_terminator::table
                           ? -1
                           : static_cast<int>(next);
        block().target = target;
        closed_ = true;
    }

    void decode_at(std::size_t s)
    {
        if (leaders_[s]) {
            open_block(s);
            block_of_[s] = static_cast<int>(out_.blocks.size()) - 1;
        }
        current_ = static_cast<std::uint32_t>(s);
        if (s == out_.body.statements.size()) { // the end of a function without `ret`
            drafts_.push_back({});
            drafts_.back().ins.statement = s == 0 ? 0 : current_ - 1;
            close(block_terminator::leave, s);
            return;
        }
        const statement &st = out_.body.statements[s];
        block_terminator end = terminator_of(st);
        if (st.guard >= 0 && end != block_terminator::branch && end != block_terminator::leave &&
            end != block_terminator::fall)
            skip_by_branch(st, s);
        if (end == block_terminator::fall) {
            decode_straight(st);
        } else {
            decode_terminator(st, end);
            close_with(st, end, s);
        }
        block().last_statement = static_cast<std::uint32_t>(s + 1);
    }

    // @p bar.sync 0; becomes a branch around an unguarded bar.sync.
    void skip_by_branch(const statement &st, std::size_t s)
    {
        draft d;
        d.ins.guard = static_cast<operand>(st.guard);
        d.ins.guard_flip = st.guard_negated ? 0 : all_lanes;
        d.ins.statement = current_;
        drafts_.push_back(d);
        close(block_terminator::branch, s, static_cast<int>(s + 1));
        block().next = -2; // the block that follows
        open_block(s);
    }

    void close_with(const statement &st, block_terminator end, std::size_t s)
    {
        int target = -1;
        if (end == block_terminator::branch) {
            if (st.targets.empty())
                throw std::runtime_error("PTX line " + std::to_string(st.text_line) +
                                         ": a branch to nowhere");
            target = st.targets[0];
            if (st.guard < 0) { // an unconditional branch only names the next block
                drafts_.pop_back();
                close(block_terminator::fall, static_cast<std::size_t>(target));
                return;
            }
        }
        close(end, s + 1, target);
        if (end == block_terminator::table) block().targets = st.targets;
        if (end == block_terminator::leave && st.guard >= 0) block().next = static_cast<int>(s + 1);
    }

    void link_blocks()
    {
        flow_graph g;
        for (std::size_t b = 0; b < out_.blocks.size(); ++b) {
            auto &k = out_.blocks[b];
            if (k.next == -2)
                k.next = static_cast<int>(b) + 1;
            else if (k.next >= 0)
                k.next = block_of_[k.next];
            if (k.target >= 0) k.target = block_of_[k.target];
            for (int &t : k.targets) t = block_of_[t];
            auto &to = g.successors.emplace_back();
            if (k.next >= 0) to.push_back(k.next);
            if (k.target >= 0 && k.target != k.next) to.push_back(k.target);
            for (int t : k.targets)
                if (std::find(to.begin(), to.end(), t) == to.end()) to.push_back(t);
            bool only_ends = k.end == block_terminator::leave && k.next < 0 && k.first == k.last;
            g.leaves.push_back(only_ends);
        }
        auto reconvergence = immediate_post_dominators(g);
        for (std::size_t b = 0; b < out_.blocks.size(); ++b)
            out_.blocks[b].reconvergence_block = reconvergence[b];
        mark_spinning(g);
    }

    // Marks loops that change nothing but the registers they load from memory: no register carries
    // a value from one iteration to the next, and nothing is stored. Their backward branch ends
    // the warp's turn.
    void mark_spinning(const flow_graph &g)
    {
        for (auto [from, header] : back_edges(g)) {
            auto inside = loop_blocks(g, from, header);
            if (only_waits(inside, header)) out_.blocks[from].spins = true;
        }
    }

    static std::vector<int> loop_blocks(const flow_graph &g, int from, int header)
    {
        std::vector<std::vector<int>> in(g.successors.size());
        for (std::size_t b = 0; b < g.successors.size(); ++b)
            for (int s : g.successors[b]) in[s].push_back(static_cast<int>(b));
        std::set<int> inside{header};
        std::vector<int> work{from};
        while (!work.empty()) {
            int b = work.back();
            work.pop_back();
            if (!inside.insert(b).second) continue;
            for (int p : in[b]) work.push_back(p);
        }
        return {inside.begin(), inside.end()};
    }

    bool only_waits(const std::vector<int> &inside, int header) const
    {
        std::set<operand> written, read_first;
        bool reads_memory = false;
        std::set<operand> fresh; // written in the header's own straight part before being read
        for (int b : inside) {
            const auto &k = out_.blocks[b];
            if (k.end == block_terminator::call || k.end == block_terminator::barrier) return false;
            std::uint32_t end = k.last + (k.end == block_terminator::fall ? 0 : 1);
            for (std::uint32_t i = k.first; i < end; ++i) {
                const draft &d = drafts_[i];
                const auto &s = out_.body.statements[d.ins.statement];
                if (s.op[0] == "st" || s.op[0] == "red") return false;
                if (s.op[0] == "mbarrier" && !has_part(s, "test_wait")) return false;
                for (const auto &o : s.operands)
                    if (o.name.starts_with("clock") || o.name.starts_with("globaltimer"))
                        return false;
                if (s.op[0] == "ld" || s.op[0] == "atom" || s.op[0] == "mbarrier")
                    reads_memory = true;
                auto read = [&](operand o) {
                    if (o != no_operand && (o & constant_bit) == 0 && !fresh.count(o))
                        read_first.insert(o);
                };
                read(d.ins.a);
                read(d.ins.b);
                read(d.ins.c);
                read(d.ins.guard);
                if (d.extra_reads) read(d.ins.extra);
                if (d.list == draft::list_role::reads)
                    for (operand o : out_.lists[d.ins.extra]) read(o);
                auto write = [&](operand o) {
                    if (o == no_operand || (o & constant_bit) != 0) return;
                    written.insert(o);
                    if (b == header || inside.size() <= 2) fresh.insert(o);
                };
                if (d.writes_d) write(d.ins.d);
                if (d.list == draft::list_role::writes)
                    for (operand o : out_.lists[d.ins.extra]) write(o);
            }
        }
        if (!reads_memory) return false;
        for (operand o : read_first)
            if (written.count(o)) return false;
        return true;
    }

    // Marks loads whose registers go only to stores: they copy data, including a structure's
    // padding.
    void mark_moves()
    {
        if (out_.body.statements.empty()) return;
        std::vector<char> computed(classes_.size(), 0);
        auto use = [&](operand o) {
            if (o != no_operand && (o & constant_bit) == 0) computed[o] = 1;
        };
        auto is_store = [&](const draft &d) {
            const auto &op = out_.body.statements[d.ins.statement].op;
            return op[0] == "st" && (d.ins.b != no_operand || d.list == draft::list_role::reads) &&
                   std::none_of(op.begin(), op.end(),
                                [](auto p) { return p.starts_with("param"); });
        };
        for (const draft &d : drafts_) {
            bool store = is_store(d);
            use(d.ins.a);
            use(d.ins.c);
            use(d.ins.guard);
            if (!store) use(d.ins.b);
            if (d.extra_reads) use(d.ins.extra);
            if (d.list == draft::list_role::reads && !store)
                for (operand o : out_.lists[d.ins.extra]) use(o);
        }
        auto moved = [&](operand o) { return o == no_operand || computed[o] == 0; };
        for (draft &d : drafts_) {
            if (out_.body.statements[d.ins.statement].op[0] != "ld" || d.ins.count == 0) continue;
            bool all = moved(d.ins.d);
            if (d.list == draft::list_role::writes)
                for (operand o : out_.lists[d.ins.extra]) all = all && moved(o);
            if (all) d.ins.flags |= only_moved;
        }
    }

    void name_roles()
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

    void finish()
    {
        mark_moves();
        name_roles();
        out_.register_bytes = place_registers(drafts_, out_.lists, out_.blocks, classes_);
        out_.instructions.reserve(drafts_.size());
        for (auto &d : drafts_) out_.instructions.push_back(d.ins);
        for (auto &list : out_.lists) out_.list_pointers.push_back(list.data());
        for (auto &b : out_.blocks) b.terminator = b.last;
        name_places();
        std::size_t n = out_.body.statements.size() + 1;
        out_.own.lanes_off.assign(n, 0);
        out_.own.counted.assign(n, {});
        out_.own.memos.assign(out_.sites, {});
        out_.own.worst.assign(out_.sites, {});
        out_.own.runs.assign(out_.blocks.size(), 0);
        out_.own.lanes_run.assign(out_.blocks.size(), 0);
    }

    void name_places()
    {
        int first = -1;
        for (const auto &s : out_.body.statements)
            if (first < 0 && s.place >= 0) first = s.place;
        std::unordered_map<int, int> known;
        for (const auto &s : out_.body.statements) {
            auto [it, fresh] = known.try_emplace(s.place, static_cast<int>(out_.places.size()));
            if (fresh) out_.places.push_back(place_shown(out_.body, *in_.module, s.place, first));
            out_.statement_place.push_back(it->second);
        }
        if (out_.places.empty()) out_.places.push_back({});
        out_.statement_place.push_back(out_.statement_place.empty() ? 0
                                                                    : out_.statement_place.back());
    }

    // ---- operands ----

    draft &emit(handler run)
    {
        draft d;
        d.ins.run = run;
        d.ins.statement = current_;
        if (guard_ != no_operand) {
            d.ins.guard = guard_;
            d.ins.guard_flip = guard_flip_;
        }
        drafts_.push_back(d);
        return drafts_.back();
    }

    handler need(const std::string &opcode)
    {
        handler h = find_handler(opcode);
        if (h == nullptr) throw unknown{};
        return h;
    }

    operand new_register(type t)
    {
        classes_.push_back(class_of(t));
        types_.push_back(t);
        return static_cast<operand>(classes_.size() - 1);
    }

    operand constant(std::uint64_t bits, register_class c)
    {
        auto key = std::pair(bits, static_cast<int>(c));
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

    // True if ptxas accepts the constant for a type: reals for reals, integers for integers, and
    // for untyped bits integers and the real of that size.
    static bool is_constant_of(const ptx::operand &o, type t)
    {
        if (t == type::f32 || t == type::f64) return o.real != 0;
        if (t == type::b32 && o.real == 'f') return true;
        if (t == type::b64 && o.real == 'd') return true;
        return o.real == 0 && !is_half(t);
    }

    std::uint64_t immediate_bits(const ptx::operand &o, type t) const
    {
        if (!is_constant_of(o, t)) throw unknown{};
        std::uint64_t bits = o.bits;
        if (t == type::f32 && o.real == 'd') {
            double d;
            std::memcpy(&d, &bits, 8);
            float f = static_cast<float>(d);
            bits = 0;
            std::memcpy(&bits, &f, 4);
        } else if (t == type::f64 && o.real == 'f') {
            float f;
            std::memcpy(&f, &bits, 4);
            const double d = f;
            std::memcpy(&bits, &d, 8);
        }
        std::uint32_t size = ptx::size_of(t);
        if (size < 8) bits &= (std::uint64_t{1} << (8 * size)) - 1;
        return bits;
    }

    // The operand as a register or constant of the class that `t` needs.
    operand source(const ptx::operand &o, type t)
    {
        if (o.negated && t != type::pred) throw unknown{};
        switch (o.what) {
        case kind::reg:
            return o.bits == 0 ? source_register(o, t) : source_sum(o, t);
        case kind::immediate:
            if (t == type::pred && o.real == 0)
                return constant(o.bits != 0 ? all_lanes : 0, register_class::predicate);
            return constant(immediate_bits(o, t), class_of(t));
        case kind::special:
            return source_special(o, t);
        case kind::symbol:
            return source_symbol(o, t);
        default:
            throw unknown{};
        }
    }

    operand source_register(const ptx::operand &o, type t)
    {
        auto id = static_cast<operand>(o.id);
        if (classes_[id] == class_of(t)) return id;
        if (classes_[id] == register_class::predicate || t == type::pred) throw unknown{};
        operand r = new_register(t);
        draft &d = emit(need("core.resize"));
        d.ins.d = r;
        d.ins.a = id;
        d.ins.wide = class_of(t) == register_class::wide ? 1 : 2;
        d.ins.flags = is_signed(t) ? signed_value : 0;
        return r;
    }

    // `r + 4` as a value occurs in hand-written PTX, and ptxas accepts it.
    operand source_sum(const ptx::operand &o, type t)
    {
        const std::uint32_t size = ptx::size_of(t);
        if (t == type::pred || t == type::f32 || t == type::f64 || is_half(t) || size < 2)
            throw unknown{};
        ptx::operand plus = o;
        plus.what = kind::immediate;
        const operand a = source_register(o, t), b = source(plus, t), r = new_register(t);
        draft &d = emit(need("add.u" + std::to_string(8 * size)));
        d.ins.d = r;
        d.ins.a = a;
        d.ins.b = b;
        return r;
    }

    operand source_special(const ptx::operand &o, type t)
    {
        special s = special_named(o.name);
        if (s == special::unknown || o.bits != 0) throw unknown{};
        type natural = core::is_wide(s) ? type::u64 : type::u32;
        operand r = new_register(natural);
        draft &d = emit(need("core.special"));
        d.ins.d = r;
        d.ins.extra = static_cast<std::uint32_t>(s);
        d.ins.wide = core::is_wide(s) ? 1 : 0;
        if (class_of(natural) == class_of(t)) return r;
        ptx::operand as;
        as.what = kind::reg;
        as.id = static_cast<int>(r);
        return source_register(as, t);
    }

    operand source_symbol(const ptx::operand &o, type t)
    {
        if (auto l = locals_.find(o.name); l != locals_.end()) {
            operand r = new_register(t);
            draft &d = emit(need("core.local_address"));
            d.ins.d = r;
            d.ins.offset = static_cast<std::int64_t>(l->second + o.bits);
            d.ins.wide = is_wide(t) ? 1 : 0;
            return r;
        }
        if (auto p = own_parameters_.find(o.name); p != own_parameters_.end())
            return constant(p->second.first + o.bits, class_of(t));
        auto s = in_.find(o.name);
        if (!s)
            throw std::runtime_error("PTX line " + std::to_string(at_line()) + ": no symbol " +
                                     o.name);
        return constant(s->value + o.bits, class_of(t));
    }

    int at_line() const { return out_.body.statements[current_].text_line; }

    // Returns the register that an instruction of type `t` writes so that `o` gets its result.
    operand destination(const ptx::operand &o, type t)
    {
        if (o.what == kind::discard) return new_register(t);
        if (o.what != kind::reg || o.bits != 0) throw unknown{};
        auto id = static_cast<operand>(o.id);
        if (classes_[id] == class_of(t)) return id;
        if (classes_[id] == register_class::predicate || t == type::pred) throw unknown{};
        operand r = new_register(t);
        pending_resize_.push_back({id, r, t});
        return r;
    }

    void finish_destinations()
    {
        for (auto [to, from, t] : pending_resize_) {
            draft &d = emit(need("core.resize"));
            d.ins.d = to;
            d.ins.a = from;
            d.ins.wide = classes_[to] == register_class::wide ? 1 : 2;
            d.ins.flags = is_signed(t) ? signed_value : 0;
        }
        pending_resize_.clear();
    }

    // ---- straight instructions ----

    void decode_straight(const statement &s)
    {
        std::size_t before = drafts_.size();
        guard_ = s.guard < 0 ? no_operand : static_cast<operand>(s.guard);
        guard_flip_ = s.guard_negated ? all_lanes : 0;
        try {
            decode_known(s);
            finish_destinations();
            check_operands(before);
            if (drafts_.size() > before) drafts_[before].ins.begins = true;
        } catch (const unknown &) {
            drafts_.resize(before);
            pending_resize_.clear();
            emit(find_handler("core.unsupported"));
        }
        guard_ = no_operand;
    }

    void check_operands(std::size_t first) const
    {
        const auto class_of_operand = [&](operand o) -> std::optional<register_class> {
            if (is_register(o))
                return o < classes_.size() ? std::optional(classes_[o]) : std::nullopt;
            const auto k = constant_classes_.find(o);
            return k == constant_classes_.end() ? std::nullopt : std::optional(k->second);
        };
        for (std::size_t k = first; k < drafts_.size(); ++k)
            if (!fits(drafts_[k], needs_of(drafts_[k].ins.run), out_.lists, class_of_operand))
                throw unknown{};
    }

    void decode_known(const statement &s)
    {
        auto op = s.op[0];
        if (op == "ld" || op == "ldu" || op == "st") return decode_move(s);
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
            emit(need(fence_of(s)));
            return;
        }
        if (op == "prefetch" || op == "prefetchu" || op == "discard" || op == "applypriority" ||
            op == "griddepcontrol")
            return; // no effect on sequentially consistent memory without caches
        if (op == "isspacep") return decode_isspacep(s);
        if (op == "trap" || op == "brkpt") {
            emit(need("core." + std::string(op)));
            return;
        }
        if (op == "activemask") {
            draft &d = emit(need("core.activemask"));
            d.ins.d = destination(operand_at(s, 0), type::u32);
            return;
        }
        if (type t = last_type(s); is_half(t)) return decode_half(s, t);
        if (op == "createpolicy") return decode_policy(s);
        const std::string name = s.opcode();
        if (name == "add.sat.s32" || name == "sub.sat.s32") return decode_saturated(s);
        if (s.op[0].starts_with("v") && s.op[0] != "vabsdiff4") return decode_video(s);
        decode_plain(s);
    }

    // vadd.u32.s32.s32.sat.max d, a, b, c, for whole words only: computed in 64 bits, then
    // saturated, then combined with c.
    void decode_video(const statement &s)
    {
        static const std::map<std::string_view, const char *> known = {
            {"vadd", "add.s64"}, {"vsub", "sub.s64"}, {"vabsdiff", "sub.s64"}, {"vmin", "min.s64"},
            {"vmax", "max.s64"}, {"vshl", "shl.b64"}, {"vshr", "shr.s64"}};
        const auto op = known.find(s.op[0]);
        if (op == known.end()) throw unknown{};
        for (std::size_t k = 1; k < 4; ++k)
            if (part(s, k) != "u32" && part(s, k) != "s32") throw unknown{};
        const bool shifts = s.op[0] == "vshl" || s.op[0] == "vshr";
        std::string combine;
        std::uint32_t saturate = 0;
        bool wraps = false, clamps = false;
        for (std::size_t k = 4; k < s.op.size(); ++k) {
            const auto p = s.op[k];
            wraps |= shifts && p == "wrap";
            clamps |= shifts && p == "clamp";
            if (p == "sat")
                saturate = convert_saturate;
            else if (p == "add" || p == "min" || p == "max")
                combine = p;
            else if (!wraps && !clamps)
                throw unknown{};
        }
        if (s.operands.size() != (combine.empty() ? 3u : 4u) || (shifts && wraps == clamps))
            throw unknown{};
        if (s.op[0] == "vshl" && saturate != 0) throw unknown{}; // may need more than 64 bits
        const std::string to(s.op[1]);
        const auto word = [&](std::size_t k) { return source(s.operands[k], type::u32); };
        const auto wide = [&](std::size_t k) {
            return computed("cvt.s64." + std::string(s.op[k + 1]), type::s64, {word(k)});
        };
        const auto number = [&](std::uint64_t n) { return constant(n, register_class::narrow); };
        const operand a = wide(1);
        operand b = no_operand;
        if (shifts)
            b = computed(wraps ? "and.b32" : "min.u32", type::u32,
                         {word(2), number(wraps ? 31 : 32)});
        else
            b = wide(2);
        operand d = computed(op->second, type::s64, {a, b});
        if (s.op[0] == "vabsdiff") d = computed("abs.s64", type::s64, {d});
        d = computed("cvt." + to + ".s64", type::u32, {d}, saturate);
        if (!combine.empty()) d = computed(combine + "." + to, type::u32, {d, word(3)});
        move_to(s.operands[0], type::u32, d);
    }

    // A cache hint has no effect; its value is only passed to other instructions.
    void decode_policy(const statement &s)
    {
        operand to = destination(operand_at(s, 0), type::b64);
        draft &d = emit(need("mov.b64"));
        d.ins.d = to;
        d.ins.a = constant(0, register_class::wide);
    }

    // The types of an arithmetic instruction's sources, where they differ from `t`.
    static type source_type(const statement &s, type t, std::size_t k)
    {
        auto op = s.op[0];
        if ((op == "shl" || op == "shr") && k == 1) return type::u32;
        if (op == "selp" && k == 2) return type::pred;
        if (op == "slct" && k == 2) return last_type(s);
        if (op == "bfe" && k >= 1) return type::u32;
        if (op == "bfi" && k >= 2) return type::u32;
        if (op == "mad" && s.op.size() > 1 && s.op[1] == "wide" && k == 2) return doubled(t);
        return t;
    }
    static type doubled(type t)
    {
        switch (t) {
        case type::u16:
            return type::u32;
        case type::s16:
            return type::s32;
        case type::u32:
            return type::u64;
        default:
            return type::s64;
        }
    }
    static type result_type(const statement &s, type t)
    {
        auto op = s.op[0];
        if (op == "popc" || op == "clz" || op == "bfind") return type::u32;
        if (op == "testp") return type::pred;
        if ((op == "mul" || op == "mad") && s.op.size() > 1 && s.op[1] == "wide") return doubled(t);
        return t;
    }

    void decode_plain(const statement &s)
    {
        auto op = s.op[0];
        std::string name = s.opcode();
        std::size_t operands = s.operands.size();
        if (operands != sources_of(op) + (op == "lop3" ? 2 : 1)) throw unknown{};
        type t = last_type(s);
        if (op == "slct") t = ptx::type_named(part(s, s.op.size() - 2));
        if (op == "dp4a" || op == "dp2a" || op == "vabsdiff4") t = type::u32;
        std::uint32_t extra = 0;
        if (op == "lop3") {
            if (s.operands[4].what != kind::immediate) throw unknown{};
            extra = static_cast<std::uint32_t>(s.operands[4].bits);
            operands = 4;
        }
        if (op == "prmt") {
            static constexpr std::string_view modes[] = {"",    "f4e", "b4e", "rc8",
                                                         "ecl", "ecr", "rc16"};
            auto m = std::find(std::begin(modes), std::end(modes), s.op.size() > 2 ? s.op[2] : "");
            if (m == std::end(modes)) throw unknown{};
            extra = static_cast<std::uint32_t>(m - std::begin(modes));
            name = "prmt.b32";
            t = type::b32;
        }
        handler h = find_handler(name);
        if (h == nullptr) h = need(with_rounding_first(s));
        if (t == type::none) throw unknown{};
        operand in[4] = {no_operand, no_operand, no_operand, no_operand};
        std::uint8_t flags = 0;
        for (std::size_t k = 1; k < operands; ++k) {
            in[k - 1] = source(s.operands[k], source_type(s, t, k - 1));
            if (s.operands[k].negated) flags |= k == 1 ? negate_a : k == 2 ? negate_b : negate_c;
        }
        operand d = destination(s.operands[0], result_type(s, t));
        draft &x = emit(h);
        x.ins.d = d;
        x.ins.a = in[0];
        x.ins.b = in[1];
        x.ins.c = in[2];
        x.ins.flags = flags;
        x.ins.extra = extra;
        bool carries = op == "addc" || op == "subc" || op == "madc" || has_part(s, "cc");
        if (carries) x.ins.extra = carry_operand;
        if (operands == 5) {
            x.ins.extra = in[3];
            x.extra_reads = (in[3] & constant_bit) == 0;
        }
    }

    // Returns div.rn.ftz.f32 for div.ftz.rn.f32, which ptxas accepts as well.
    static std::string with_rounding_first(const statement &s)
    {
        std::string name(s.op[0]);
        const auto add = [&](bool rounding) {
            for (std::size_t k = 1; k < s.op.size(); ++k) {
                const auto part = s.op[k];
                const bool is = part == "rn" || part == "rz" || part == "rm" || part == "rp" ||
                                part == "approx" || part == "full";
                if (is == rounding) name += "." + std::string(part);
            }
        };
        add(true);
        add(false);
        return name;
    }

    static bool is_half(type t)
    {
        return t == type::f16 || t == type::f16x2 || t == type::bf16 || t == type::bf16x2;
    }

    // Arithmetic on f16 and bf16: the modifiers become half_flags.
    void decode_half(const statement &s, type t)
    {
        std::uint32_t flags = 0;
        for (std::size_t k = 1; k + 1 < s.op.size(); ++k) {
            auto part = s.op[k];
            if (part == "ftz")
                flags |= half_ftz;
            else if (part == "sat")
                flags |= half_saturate;
            else if (part == "relu")
                flags |= half_relu;
            else if (part == "NaN")
                flags |= half_nan;
            else if (part != "rn" && part != "approx")
                throw unknown{};
        }
        handler h = need("half." + std::string(s.op[0]) + "." + std::string(s.op.back()));
        if (s.operands.size() != sources_of(s.op[0]) + 1) throw unknown{};
        operand in[3] = {no_operand, no_operand, no_operand};
        for (std::size_t k = 1; k < s.operands.size(); ++k) in[k - 1] = source(s.operands[k], t);
        operand to = destination(s.operands[0], t);
        draft &x = emit(h);
        x.ins.d = to;
        x.ins.a = in[0];
        x.ins.b = in[1];
        x.ins.c = in[2];
        x.ins.extra = flags;
    }

    // setp and set of f16 and bf16 share one handler for all comparisons.
    static std::uint32_t half_comparison_named(std::string_view name)
    {
        static constexpr std::string_view names[] = {"eq",  "ne",  "lt",  "le",  "gt",
                                                     "ge",  "equ", "neu", "ltu", "leu",
                                                     "gtu", "geu", "num", "nan"};
        auto at = std::find(std::begin(names), std::end(names), name);
        if (at == std::end(names)) throw unknown{};
        return static_cast<std::uint32_t>(at - std::begin(names)) << half_comparison_shift;
    }

    void decode_mov(const statement &s)
    {
        const auto &to = operand_at(s, 0), &from = operand_at(s, 1);
        type t = last_type(s);
        if (s.op.size() == 3) {
            move_vector(s, t);
        } else if (to.what == kind::vector) {
            draft parts = vector_move(to, t, true);
            parts.ins.a = source(from, t);
            keep(parts, "core.unpack");
        } else if (from.what == kind::vector) {
            draft parts = vector_move(from, t, false);
            parts.ins.d = destination(to, t);
            keep(parts, "core.pack");
        } else {
            handler h = need(s.opcode());
            operand a = source(from, t);
            draft &d = emit(h);
            d.ins.a = a;
            if (from.negated) d.ins.flags = negate_a;
            std::size_t me = drafts_.size() - 1;
            operand dest = destination(to, t);
            drafts_[me].ins.d = dest;
        }
    }

    // mov.v2.u32 {a, b}, {b, a}: all sources are read before any destination is written.
    void move_vector(const statement &s, type t)
    {
        const auto &to = operand_at(s, 0), &from = operand_at(s, 1);
        const std::size_t count = part(s, 1) == "v2" ? 2 : part(s, 1) == "v4" ? 4 : 0;
        if (count == 0 || to.what != kind::vector || from.what != kind::vector ||
            to.elements.size() != count || from.elements.size() != count)
            throw unknown{};
        const handler h = need("mov." + std::string(s.op.back()));
        std::vector<operand> read;
        for (const auto &e : from.elements) {
            const operand a = source(e, t), r = new_register(t);
            draft &d = emit(h);
            d.ins.d = r;
            d.ins.a = a;
            read.push_back(r);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const operand d = destination(to.elements[k], t);
            draft &x = emit(h);
            x.ins.d = d;
            x.ins.a = read[k];
        }
    }

    void keep(const draft &parts, const char *name)
    {
        draft &d = emit(need(name));
        instruction ins = parts.ins;
        ins.run = d.ins.run;
        ins.guard = d.ins.guard;
        ins.guard_flip = d.ins.guard_flip;
        ins.statement = d.ins.statement;
        d.ins = ins;
        d.list = parts.list;
    }

    draft vector_move(const ptx::operand &v, type t, bool writes)
    {
        draft d;
        std::uint32_t total = ptx::size_of(t),
                      count = static_cast<std::uint32_t>(v.elements.size());
        if (count == 0 || total > 8 || total % count != 0 || total / count > 4) throw unknown{};
        type part = total / count == 4 ? type::b32 : total / count == 2 ? type::b16 : type::b8;
        std::vector<operand> list;
        for (const auto &e : v.elements) {
            if (writes && e.what == kind::discard)
                list.push_back(no_operand);
            else
                list.push_back(writes ? destination(e, part) : source(e, part));
        }
        d.ins.extra = add_list(list);
        d.ins.count = static_cast<std::uint8_t>(count);
        d.ins.bytes = static_cast<std::uint8_t>(total / count);
        d.ins.wide = total == 8 ? 1 : 0;
        d.list = writes ? draft::list_role::writes : draft::list_role::reads;
        return d;
    }

    std::uint32_t add_list(std::vector<operand> list)
    {
        out_.lists.push_back(std::move(list));
        return static_cast<std::uint32_t>(out_.lists.size() - 1);
    }

    void decode_cvta(const statement &s)
    {
        type t = last_type(s);
        bool to = has_part(s, "to");
        std::uint64_t window = has_part(s, "shared") || has_part(s, "shared::cta") ? shared_window
                               : has_part(s, "local")                              ? local_window
                               : has_part(s, "param")                              ? param_window
                                                                                   : 0;
        operand a = source(operand_at(s, 1), t), d = destination(operand_at(s, 0), t);
        draft &x = emit(need(window == 0 ? "mov.u64" : to ? "sub.u64" : "add.u64"));
        x.ins.d = d;
        x.ins.a = a;
        if (window != 0) x.ins.b = constant(window, register_class::wide);
    }

    void decode_isspacep(const statement &s)
    {
        operand a = source(operand_at(s, 1), type::u64);
        draft &d = emit(need("core.isspacep"));
        d.ins.a = a;
        auto where = part(s, 1);
        d.ins.extra = where.starts_with("shared") ? 1
                      : where == "local"          ? 2
                      : where == "param"          ? 3
                                                  : 0;
        if (where == "const") d.ins.extra = 4;
        d.ins.d = destination(operand_at(s, 0), type::pred);
    }

    // An instruction with one result and up to three sources, all of them registers or constants.
    operand computed(const std::string &opcode, type t, std::initializer_list<operand> from,
                     std::uint32_t extra = 0)
    {
        const handler h = need(opcode);
        const operand r = new_register(t);
        draft &d = emit(h);
        d.ins.d = r;
        operand *in[] = {&d.ins.a, &d.ins.b, &d.ins.c};
        std::size_t k = 0;
        for (const operand o : from) *in[k++] = o;
        d.ins.extra = extra;
        return r;
    }

    void move_to(const ptx::operand &to, type t, operand from)
    {
        const operand d = destination(to, t);
        draft &x = emit(need(is_wide(t) ? "mov.b64" : "mov.b32"));
        x.ins.d = d;
        x.ins.a = from;
    }

    // cvt.pack.sat.u8.s32.b32 d, a, b, c: c's lower half above a above b, both saturated.
    void decode_pack(const statement &s)
    {
        if (s.op.size() < 5 || s.op[2] != "sat" || s.op[4] != "s32") throw unknown{};
        const std::uint32_t size = ptx::size_of(ptx::type_named(s.op[3]));
        const bool has_c = s.op.size() == 6 && s.op[5] == "b32";
        if ((size != 2 || s.op.size() != 5) && (size != 1 || !has_c)) throw unknown{};
        if (s.operands.size() != (has_c ? 4u : 3u)) throw unknown{};
        const auto fit = [&](std::size_t k) {
            return computed("cvt." + std::string(s.op[3]) + ".s32", type::b32,
                            {source(s.operands[k], type::s32)}, convert_saturate);
        };
        const operand a = fit(1), b = fit(2);
        const auto bytes = [&](operand low, operand high, std::uint64_t chosen) {
            return computed("prmt.b32", type::b32,
                            {low, high, constant(chosen, register_class::narrow)});
        };
        operand d = bytes(b, a, has_c ? 0x40 : 0x5410);
        if (has_c) d = bytes(d, source(s.operands[3], type::b32), 0x5410);
        move_to(s.operands[0], type::b32, d);
    }

    // add.sat.s32 and sub.sat.s32, the only saturating integer additions.
    void decode_saturated(const statement &s)
    {
        if (s.operands.size() != 3) throw unknown{};
        operand wide[2];
        for (std::size_t k = 0; k < 2; ++k)
            wide[k] = computed("cvt.s64.s32", type::s64, {source(operand_at(s, k + 1), type::s32)});
        const operand r = computed(std::string(s.op[0]) + ".s64", type::s64, {wide[0], wide[1]});
        move_to(operand_at(s, 0), type::s32,
                computed("cvt.s32.s64", type::s32, {r}, convert_saturate));
    }

    void decode_cvt(const statement &s)
    {
        if (has_part(s, "pack")) return decode_pack(s);
        type from = last_type(s), to = ptx::type_named(part(s, s.op.size() - 2));
        std::uint32_t extra = 0;
        for (std::size_t k = 1; k + 2 < s.op.size(); ++k)
            if (s.op[k] != "relu") extra |= convert_flag(s.op[k]);
        bool relu = has_part(s, "relu");
        if (from == type::none || to == type::none) throw unknown{};
        if (to == type::f16x2 || to == type::bf16x2) return decode_cvt_pair(s, to, extra);
        handler h =
            need("cvt." + std::string(s.op[s.op.size() - 2]) + "." + std::string(s.op.back()));
        operand a = source(operand_at(s, 1), from), d = destination(operand_at(s, 0), to);
        draft &x = emit(h);
        x.ins.a = a;
        x.ins.d = d;
        x.ins.extra = extra;
        if (relu) clear_negative(d, s.op[s.op.size() - 2]);
        std::uint32_t size = ptx::size_of(to);
        bool wider =
            s.operands[0].what == kind::reg && ptx::size_of(types_[s.operands[0].id]) > size;
        if (size < 4 && is_signed(to) && wider) {
            draft &e = emit(need("core.extend"));
            e.ins.a = e.ins.d = d;
            e.ins.bytes = static_cast<std::uint8_t>(size);
            e.ins.flags = signed_value;
        }
    }

    void clear_negative(operand d, std::string_view format)
    {
        draft &x = emit(need("core.relu." + std::string(format)));
        x.ins.a = x.ins.d = d;
    }

    // cvt.rn.f16x2.f32 d, a, b: a is the upper half.
    void decode_cvt_pair(const statement &s, type to, std::uint32_t extra)
    {
        handler h = need(to == type::f16x2 ? "cvt.f16.f32" : "cvt.bf16.f32");
        operand halves[2];
        for (int k = 0; k < 2; ++k) {
            operand a = source(operand_at(s, 2 - k), type::f32);
            halves[k] = new_register(type::b16);
            draft &x = emit(h);
            x.ins.a = a;
            x.ins.d = halves[k];
            x.ins.extra = extra;
            if (has_part(s, "relu")) clear_negative(halves[k], to == type::f16x2 ? "f16" : "bf16");
        }
        draft p;
        p.ins.extra = add_list({halves[0], halves[1]});
        p.ins.count = 2;
        p.ins.bytes = 2;
        p.list = draft::list_role::reads;
        p.ins.d = destination(operand_at(s, 0), type::b32);
        keep(p, "core.pack");
    }

    std::uint32_t convert_flag(std::string_view part)
    {
        if (part == "rn" || part == "rni") return convert_nearest;
        if (part == "rz" || part == "rzi") return convert_zero;
        if (part == "rm" || part == "rmi") return convert_down;
        if (part == "rp" || part == "rpi") return convert_up;
        if (part == "sat") return convert_saturate;
        if (part == "ftz") return convert_ftz;
        throw unknown{};
    }

    void decode_compare(const statement &s)
    {
        bool set = s.op[0] == "set";
        type t = last_type(s);
        std::string name = std::string(s.op[0]) + "." + std::string(part(s, 1));
        bool half = is_half(t);
        if (half) name = std::string("half.") + std::string(s.op[0]);
        std::uint32_t extra = half ? half_comparison_named(part(s, 1)) : 0;
        std::size_t types = set ? 2 : 1;
        if (s.op.size() < 2 + types) throw unknown{};
        for (std::size_t k = 2; k + types < s.op.size(); ++k) {
            auto part = s.op[k];
            if (part == "and")
                extra |= combine_and;
            else if (part == "or")
                extra |= combine_or;
            else if (part == "xor")
                extra |= combine_xor;
            else if (part == "ftz")
                extra |= combine_ftz;
            else
                throw unknown{};
        }
        for (std::size_t k = s.op.size() - types; k < s.op.size(); ++k)
            name += "." + std::string(s.op[k]);
        handler h = need(name);
        std::size_t first = s.paired ? 2 : 1;
        operand a = source(operand_at(s, first), t), b = source(operand_at(s, first + 1), t);
        operand c = no_operand;
        bool negated = false;
        if ((extra & combine_mask) != 0) {
            c = source(operand_at(s, first + 2), type::pred);
            negated = s.operands[first + 2].negated;
        }
        type result = set ? ptx::type_named(s.op[s.op.size() - 2]) : type::pred;
        operand d = destination(s.operands[0], result);
        draft &x = emit(h);
        x.ins.a = a;
        x.ins.b = b;
        x.ins.c = c;
        x.ins.d = d;
        if (negated) x.ins.flags = negate_c;
        if (s.paired && s.operands[1].what == kind::reg) {
            extra |= combine_second;
            x.ins.offset = s.operands[1].id;
            x.offset_writes = true;
        }
        x.ins.extra = extra;
    }

    // ---- memory ----

    struct move_parts {
        ptx::space space = ptx::space::generic;
        int count = 1;
        ptx::type type = ptx::type::none;
        std::string operation;
        bool strong = false, is_volatile = false, releases = false, acquires = false;
        bool block_scope = false;
    };

    static const char *fence_of(const statement &s)
    {
        return has_part(s, "cta") ? "core.block_fence" : "core.fence";
    }

    move_parts parts_of(const statement &s)
    {
        move_parts p;
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
                throw unknown{};
        }
        if (p.type == type::none || p.type == type::pred || p.type == type::b128) throw unknown{};
        return p;
    }
    static bool is_operation(std::string_view p)
    {
        static const std::set<std::string_view> names = {"add", "min",  "max", "and", "or",
                                                         "xor", "exch", "cas", "inc", "dec"};
        return names.count(p) != 0;
    }
    // Memory orders and cache hints change nothing: memory is sequentially consistent without
    // caches.
    static bool is_hint(std::string_view p)
    {
        static const std::set<std::string_view> names = {
            "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "gpu",
            "sys",      "cta",     "cluster", "ca",      "cg",      "cs",   "lu",
            "cv",       "wb",      "wt",      "nc",      "noftz",   "mmio"};
        return names.count(p) != 0 || p.starts_with("L1::") || p.starts_with("L2::");
    }

    static const char *space_name(ptx::space s)
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

    void set_address(draft &d, operand a)
    {
        d.ins.a = a;
        const auto found = is_register(a) ? classes_[a] : constant_classes_.at(a);
        if (found == register_class::wide) d.ins.wide |= 2;
    }

    operand address_source(const ptx::operand &o, std::int64_t &offset)
    {
        if (o.what != kind::address || !o.elements.empty() || o.negated || o.real != 0)
            throw unknown{};
        if (!o.name.empty()) {
            ptx::operand symbol;
            symbol.what = kind::symbol;
            symbol.name = o.name;
            offset = static_cast<std::int64_t>(o.bits);
            return source_symbol(symbol, type::u64);
        }
        if (o.id < 0) {
            offset = 0;
            return constant(o.bits, register_class::wide);
        }
        offset = static_cast<std::int64_t>(o.bits);
        return static_cast<operand>(o.id);
    }

    // Fills in the data operand, one register or a list, and its width.
    void set_data(draft &d, const ptx::operand &data, const move_parts &p, bool store)
    {
        std::vector<operand> regs;
        bool wide = is_wide(p.type);
        auto note = [&](const ptx::operand &e) {
            if (e.what == kind::reg && classes_[e.id] == register_class::wide) wide = true;
        };
        if (data.what == kind::vector)
            for (const auto &e : data.elements) note(e);
        else
            note(data);
        type as = wide ? (is_signed(p.type) ? type::s64 : type::u64) : p.type;
        if (!wide && ptx::size_of(p.type) < 4) as = is_signed(p.type) ? type::s32 : type::u32;
        auto one = [&](const ptx::operand &e) {
            bool element = data.what == kind::vector;
            if (!store && element && e.what == kind::discard) return no_operand;
            if (!store) return destination(e, as);
            if (e.what == kind::immediate) return constant(immediate_bits(e, p.type), class_of(as));
            return source(e, as);
        };
        if (data.what == kind::vector) {
            if (static_cast<int>(data.elements.size()) != p.count) throw unknown{};
            for (const auto &e : data.elements) regs.push_back(one(e));
            d.ins.extra = add_list(regs);
            d.list = store ? draft::list_role::reads : draft::list_role::writes;
        } else {
            (store ? d.ins.b : d.ins.d) = one(data);
        }
        d.ins.count = static_cast<std::uint8_t>(p.count);
        d.ins.bytes = static_cast<std::uint8_t>(ptx::size_of(p.type));
        if (wide) d.ins.wide |= 1;
        if (is_signed(p.type)) d.ins.flags |= signed_value;
    }

    // An access that names a variable but no space is in the variable's space.
    void infer_space(move_parts &p, const ptx::operand &place) const
    {
        if (p.space != ptx::space::generic || place.name.empty()) return;
        if (locals_.count(place.name) != 0) {
            p.space = ptx::space::local;
        } else if (const auto s = in_.find(place.name)) {
            if (s->what == symbol::kind::shared) p.space = ptx::space::shared;
            if (s->what == symbol::kind::constant) p.space = ptx::space::constant;
        }
    }

    void decode_move(const statement &s)
    {
        move_parts p = parts_of(s);
        bool store = s.op[0] == "st";
        const auto &place = operand_at(s, store ? 0 : 1), &data = operand_at(s, store ? 1 : 0);
        infer_space(p, place);
        draft d;
        d.ins.site = out_.sites++;
        set_data(d, data, p, store);
        std::string width = (d.ins.wide & 1) != 0 ? "8" : "4";
        if (p.space == ptx::space::param) {
            place_param(d, place, store, width);
            return;
        }
        std::int64_t offset = 0;
        set_address(d, address_source(place, offset));
        d.ins.offset = offset;
        std::string name = std::string(store ? "store." : "load.") + space_name(p.space) + "." +
                           std::to_string(d.ins.bytes) + "x" + width;
        if (p.strong) d.ins.flags |= strong;
        if (guesses_[current_] != 0) d.ins.flags |= guess;
        if (p.is_volatile) d.ins.wide |= 4;
        if (p.block_scope) d.ins.wide |= 8;
        if (p.releases) emit(need(fence_of(s)));
        keep(d, name.c_str());
        if (p.acquires) emit(need("core.acquire")).ins.wide = p.block_scope ? 8 : 0;
    }

    static std::int64_t place_within(const draft &d, const extent &all, const ptx::operand &place)
    {
        std::uint64_t bytes = std::uint64_t{d.ins.bytes} * d.ins.count;
        if (bytes > all.second || place.bits > all.second - bytes) throw unknown{};
        return static_cast<std::int64_t>(all.first + place.bits);
    }

    void place_param(draft &d, const ptx::operand &place, bool store, const std::string &width)
    {
        if (auto a = arguments_.find(place.name); a != arguments_.end()) {
            d.ins.offset = place_within(d, a->second, place);
            keep(d, (std::string(store ? "argument.store." : "argument.load.") + width).c_str());
        } else if (auto p = own_parameters_.find(place.name); p != own_parameters_.end()) {
            d.ins.offset = place_within(d, p->second, place);
            bool entry = in_.source->entry;
            if (entry && store) throw unknown{};
            std::string name = entry ? "parameter." : store ? "argument.store." : "argument.load.";
            keep(d, (name + width).c_str());
        } else if (place.name.empty() && !store && in_.source->entry) {
            std::int64_t offset = 0;
            set_address(d, address_source(place, offset));
            d.ins.offset = offset;
            keep(d, ("parameter_at." + width).c_str());
        } else {
            throw unknown{};
        }
    }

    // alloca.u64 pointer, bytes, alignment
    void decode_alloca(const statement &s)
    {
        if (s.op.size() != 2 || s.op[1] != "u64") throw unknown{};
        std::uint64_t align = 8;
        if (s.operands.size() > 2) {
            const auto &given = operand_at(s, 2);
            if (given.what != kind::immediate || given.real != 0) throw unknown{};
            align = given.bits;
        }
        const bool power = align != 0 && (align & (align - 1)) == 0;
        if (!power || align > max_local_bytes) throw unknown{};
        const operand bytes = source(operand_at(s, 1), type::u64);
        const operand to = destination(operand_at(s, 0), type::u64);
        draft &d = emit(need("core.alloca"));
        d.ins.d = to;
        d.ins.a = bytes;
        d.ins.offset = static_cast<std::int64_t>(align);
    }

    // The dimensions of a texture or surface, with texture_layered if it has layers.
    static std::int64_t shape_named(std::string_view name)
    {
        static const std::map<std::string_view, std::int64_t> shapes = {
            {"1d", 1},
            {"2d", 2},
            {"3d", 3},
            {"a1d", 1 | texture_layered},
            {"a2d", 2 | texture_layered}};
        const auto found = shapes.find(name);
        if (found == shapes.end()) throw unknown{};
        return found->second;
    }

    // [object, {x, y}]
    bool is_object_and_place(const ptx::operand &o) const
    {
        return o.id >= 0 && o.what == kind::address && o.elements.size() == 1 && o.bits == 0 &&
               o.elements[0].what == kind::vector &&
               classes_[static_cast<std::size_t>(o.id)] == register_class::wide;
    }

    // tex.2d.v4.f32.f32 {r, g, b, a}, [object, {x, y}]; a level is ignored, for there are no
    // mipmaps.
    void decode_texture(const statement &s)
    {
        const bool level = part(s, 1) == "level";
        const std::int64_t shape = shape_named(part(s, level ? 2 : 1));
        const std::size_t after = level ? 3 : 2;
        if (s.op.size() != after + 3 || part(s, after) != "v4") throw unknown{};
        const type value = ptx::type_named(part(s, after + 1)), at = last_type(s);
        const auto &place = operand_at(s, 1);
        const auto &to = operand_at(s, 0);
        if (ptx::size_of(value) != 4 || ptx::size_of(at) != 4 || !is_object_and_place(place) ||
            to.what != kind::vector || to.elements.size() != 4)
            throw unknown{};
        draft d;
        d.ins.a = static_cast<operand>(place.id);
        d.ins.offset = shape | (at == type::f32 ? 0 : texture_by_index);
        const bool layered = (shape & texture_layered) != 0;
        const auto &given = place.elements[0].elements;
        operand coordinates[3];
        for (std::size_t k = 0; k < 3; ++k)
            coordinates[k] = k < given.size() ? source(given[k], layered && k == 0 ? type::u32 : at)
                                              : constant(0, register_class::narrow);
        d.ins.b = coordinates[0];
        d.ins.c = coordinates[1];
        d.ins.d = coordinates[2];
        std::vector<operand> channels;
        for (const auto &e : to.elements)
            channels.push_back(e.what == kind::discard ? no_operand : destination(e, value));
        d.ins.extra = add_list(channels);
        d.ins.count = 4;
        d.list = draft::list_role::writes;
        keep(d, "core.texture");
        drafts_.back().writes_d = false;
    }

    static outside_surface outside_named(std::string_view name)
    {
        if (name == "trap") return outside_surface::trap;
        if (name == "clamp") return outside_surface::clamp;
        if (name == "zero") return outside_surface::zero;
        throw unknown{};
    }

    // suld.b.2d.v2.b32.trap {a, b}, [object, {x, y}] becomes the computation of the address and a
    // load or store for the lanes that are inside.
    void decode_surface(const statement &s)
    {
        if (part(s, 1) != "b" || s.op.size() < 5) throw unknown{};
        statement access = s; // of the access itself: .v2.b32
        access.op.erase(access.op.begin() + 1, access.op.begin() + 3);
        access.op.pop_back();
        const move_parts p = parts_of(access);
        const bool store = s.op[0] == "sust";
        const std::int64_t shape = shape_named(part(s, 2));
        const auto how = outside_named(s.op.back());
        const auto &place = operand_at(s, store ? 0 : 1), &given = operand_at(s, store ? 1 : 0);
        if (p.space != ptx::space::generic || !p.operation.empty() || !is_object_and_place(place))
            throw unknown{};
        const bool alone = given.what == kind::vector && given.elements.size() == 1;
        const ptx::operand &data = alone ? given.elements[0] : given;
        const auto &at = place.elements[0].elements;
        operand coordinates[3];
        for (std::size_t k = 0; k < 3; ++k)
            coordinates[k] =
                k < at.size() ? source(at[k], type::u32) : constant(0, register_class::narrow);
        const operand address = new_register(type::u64), inside = new_register(type::pred);
        draft d;
        d.ins.site = out_.sites++;
        // Resizing the data registers of a store may emit instructions: they come first.
        set_data(d, data, p, store);
        const operand guard = guard_;
        const std::uint32_t flip = guard_flip_;
        guard_ = no_operand; // no lane is inside where the guard is false
        draft &none = emit(need("mov.pred"));
        none.ins.d = inside;
        none.ins.a = constant(0, register_class::predicate);
        guard_ = guard;
        draft &x = emit(need("core.surface_address"));
        x.ins.a = static_cast<operand>(place.id);
        x.ins.b = coordinates[0];
        x.ins.c = coordinates[1];
        x.ins.extra = coordinates[2];
        x.extra_reads = true;
        x.ins.d = address;
        x.ins.offset = inside;
        x.offset_writes = true;
        x.ins.count = static_cast<std::uint8_t>(shape);
        x.ins.flags = static_cast<std::uint8_t>(how);
        x.ins.bytes = static_cast<std::uint8_t>(d.ins.bytes * d.ins.count);
        if (!store && how == outside_surface::zero) set_to_zero(d);
        set_address(d, address);
        guard_ = inside;
        guard_flip_ = 0;
        keep(d, (std::string(store ? "store" : "load") + ".global." + std::to_string(d.ins.bytes) +
                 ((d.ins.wide & 1) != 0 ? "x8" : "x4"))
                    .c_str());
        guard_ = guard;
        guard_flip_ = flip;
    }

    // Sets the registers that a load would write to zero.
    void set_to_zero(const draft &load)
    {
        const bool wide = (load.ins.wide & 1) != 0;
        std::vector<operand> to = {load.ins.d};
        if (load.list == draft::list_role::writes) to = out_.lists[load.ins.extra];
        for (operand o : to) {
            if (o == no_operand) continue;
            draft &zero = emit(need(wide ? "mov.b64" : "mov.b32"));
            zero.ins.d = o;
            zero.ins.a = constant(0, wide ? register_class::wide : register_class::narrow);
        }
    }

    void decode_copy(const statement &s)
    {
        if (part(s, 1) != "async") throw unknown{};
        auto what = part(s, 2);
        if (what == "mbarrier") return decode_copy_arrival(s);
        if (what == "ca" || what == "cg") return decode_copy_start(s);
        if (what != "commit_group" && what != "wait_all" && what != "wait_group") throw unknown{};
        if (what == "wait_group" && operand_at(s, 0).what != kind::immediate) throw unknown{};
        std::uint64_t left = what == "wait_group" ? operand_at(s, 0).bits : 0;
        draft &d = emit(need("core.wait_for_copies"));
        d.ins.extra = static_cast<std::uint32_t>(what == "commit_group" ? copy_wait::commit
                                                 : what == "wait_all"   ? copy_wait::all
                                                                        : copy_wait::group);
        d.ins.offset = static_cast<std::int64_t>(left);
    }

    // cp.async.mbarrier.arrive: the copies complete immediately, so no thread has to wait for
    // them.
    void decode_copy_arrival(const statement &s)
    {
        if (part(s, 3) != "arrive") throw unknown{};
        emit(need("core.wait_for_copies")).ins.extra = static_cast<std::uint32_t>(copy_wait::all);
        if (has_part(s, "noinc"))
            arrive(s, operand_at(s, 0), "mbarrier_arrive", nullptr, no_operand);
    }

    void decode_mbarrier(const statement &s)
    {
        static const std::set<std::string_view> known = {
            "shared", "shared::cta", "b64", "release", "acquire", "cta", "parity", "noComplete"};
        auto what = part(s, 1);
        for (std::size_t k = 2; k < s.op.size(); ++k)
            if (known.count(s.op[k]) == 0) throw unknown{};
        if (what == "init") {
            arrive(s, operand_at(s, 0), "mbarrier_init", nullptr,
                   source(operand_at(s, 1), type::u64));
        } else if (what == "inval") {
            arrive(s, operand_at(s, 0), "mbarrier_init", nullptr,
                   constant(0, register_class::wide));
        } else if (what == "arrive" || what == "arrive_drop") {
            operand came = s.operands.size() > 2 ? source(s.operands[2], type::u64) : no_operand;
            arrive(s, operand_at(s, 1), "mbarrier_" + std::string(what), &s.operands[0], came);
        } else if (what == "test_wait") {
            decode_test_wait(s);
        } else {
            throw unknown{};
        }
    }

    // One atomic change of the barrier at `at`; `state` receives its previous value.
    void arrive(const statement &s, const ptx::operand &at, const std::string &how,
                const ptx::operand *state, operand came)
    {
        draft d;
        d.ins.site = out_.sites++;
        std::int64_t offset = 0;
        set_address(d, address_source(at, offset));
        d.ins.offset = offset;
        d.ins.b = came == no_operand ? constant(1, register_class::wide) : came;
        if (state != nullptr && state->what != kind::discard)
            d.ins.d = destination(*state, type::u64);
        d.ins.bytes = 8;
        d.ins.count = 1;
        d.ins.flags |= strong;
        emit(need("core.fence"));
        bool shared = has_part(s, "shared") || has_part(s, "shared::cta");
        keep(d, ((shared ? "atomic.shared." : "atomic.generic.") + how + ".b64").c_str());
    }

    // Tests if the phase that a state or a parity belongs to has completed.
    void decode_test_wait(const statement &s)
    {
        bool shared = has_part(s, "shared") || has_part(s, "shared::cta");
        draft load;
        load.ins.site = out_.sites++;
        std::int64_t offset = 0;
        set_address(load, address_source(operand_at(s, 1), offset));
        load.ins.offset = offset;
        load.ins.wide |= 1;
        load.ins.bytes = 8;
        load.ins.count = 1;
        load.ins.flags = strong;
        operand now = load.ins.d = new_register(type::u64);
        operand then = source(operand_at(s, 2), type::u64);
        keep(load, shared ? "load.shared.8x8" : "load.generic.8x8");
        emit(need("core.acquire"));
        auto wide = [&](const char *opcode, operand a, operand b) {
            operand r = new_register(type::u64);
            draft &d = emit(need(opcode));
            d.ins.d = r;
            d.ins.a = a;
            d.ins.b = b;
            return r;
        };
        operand shift = constant(mbarrier_phase_bit, register_class::narrow),
                one = constant(1, register_class::wide);
        now = wide("shr.u64", now, shift);
        if (has_part(s, "parity"))
            now = wide("and.b64", now, one), then = wide("and.b64", then, one);
        else
            then = wide("shr.u64", then, shift);
        operand p = destination(operand_at(s, 0), type::pred);
        draft &d = emit(need("setp.ne.u64"));
        d.ins.d = p;
        d.ins.a = now;
        d.ins.b = then;
    }

    // cp.async.ca.shared.global [to], [from], bytes{, bytes to read or a predicate to read none};
    void decode_copy_start(const statement &s)
    {
        for (std::size_t k = 3; k < s.op.size(); ++k)
            if (!s.op[k].starts_with("shared") && s.op[k] != "global" && !is_hint(s.op[k]))
                throw unknown{};
        if (has_part(s, "shared::cluster") || operand_at(s, 2).what != kind::immediate ||
            s.operands.size() > 4 || has_part(s, "L2::cache_hint"))
            throw unknown{};
        draft d;
        d.ins.site = out_.sites;
        out_.sites += 2; // one for the read, one for the write
        std::int64_t from_offset = 0, offset = 0;
        operand from = address_source(operand_at(s, 1), from_offset);
        if (from_offset != 0) from = sum_of(from, from_offset);
        set_address(d, address_source(operand_at(s, 0), offset));
        d.ins.offset = offset;
        d.ins.b = from;
        const std::uint64_t bytes = operand_at(s, 2).bits;
        if (bytes != 16 && (part(s, 2) == "cg" || (bytes != 4 && bytes != 8))) throw unknown{};
        d.ins.bytes = static_cast<std::uint8_t>(bytes);
        d.ins.count = 1;
        if (s.operands.size() == 4) {
            const auto &last = s.operands[3];
            bool skips = last.what == kind::reg &&
                         classes_[static_cast<std::size_t>(last.id)] == register_class::predicate;
            if (last.negated) throw unknown{};
            d.ins.c = source(last, skips ? type::pred : type::u32);
            d.ins.extra = skips ? 1 : 0;
        }
        keep(d, "core.copy_async");
    }

    operand sum_of(operand a, std::int64_t offset)
    {
        operand r = new_register(type::u64);
        draft &d = emit(need("add.u64"));
        d.ins.d = r;
        d.ins.a = a;
        d.ins.b = constant(static_cast<std::uint64_t>(offset), register_class::wide);
        return r;
    }

    void decode_atomic(const statement &s)
    {
        move_parts p = parts_of(s);
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
        std::int64_t offset = 0;
        set_address(d, address_source(operand_at(s, at), offset));
        d.ins.offset = offset;
        d.ins.b = source(operand_at(s, at + 1), t);
        if (p.operation == "cas") d.ins.c = source(operand_at(s, at + 2), t);
        if (result && s.operands[0].what != kind::discard) d.ins.d = destination(s.operands[0], t);
        d.ins.bytes = static_cast<std::uint8_t>(ptx::size_of(t));
        d.ins.count = 1;
        d.ins.flags |= strong;
        if (p.block_scope) d.ins.wide |= 8;
        if (p.releases) emit(need(fence_of(s)));
        keep(d, (std::string("atomic.") + space_name(p.space) + "." + p.operation + "." + type_name)
                    .c_str());
        if (p.acquires) emit(need("core.acquire")).ins.wide = p.block_scope ? 8 : 0;
    }

    // ---- instructions that end a block ----

    void decode_terminator(const statement &s, block_terminator end)
    {
        std::size_t before = drafts_.size();
        try {
            check_terminator_parts(s);
            if (s.operands.empty() && end != block_terminator::branch &&
                end != block_terminator::leave)
                throw unknown{};
            switch (end) {
            case block_terminator::branch:
                decode_branch(s);
                break;
            case block_terminator::table:
                decode_branch_table(s);
                break;
            case block_terminator::call:
                decode_call(s);
                break;
            case block_terminator::leave:
                decode_leave(s);
                break;
            case block_terminator::barrier:
                decode_barrier(s);
                break;
            case block_terminator::warp_sync:
                decode_warp_sync(s);
                break;
            default:
                emit(nullptr);
                break;
            }
            check_operands(before);
        } catch (const unknown &) {
            drafts_.resize(before);
            emit(find_handler("core.unsupported"));
            emit(nullptr); // closes the block, but is never reached: the grid has stopped
        }
        pending_resize_.clear();
    }

    static void check_terminator_parts(const statement &s)
    {
        static const std::set<std::string_view> known = {
            "uni", "idx", "sync",   "cta", "warp", "arrive", "red", "aligned", "popc",
            "and", "or",  "xor",    "add", "min",  "max",    "up",  "down",    "bfly",
            "any", "all", "ballot", "b32", "b64",  "u32",    "s32", "pred"};
        for (std::size_t k = 1; k < s.op.size(); ++k)
            if (known.count(s.op[k]) == 0) throw unknown{};
    }

    void decode_branch(const statement &s)
    {
        draft &d = emit(nullptr);
        if (s.guard >= 0) {
            d.ins.guard = static_cast<operand>(s.guard);
            d.ins.guard_flip = s.guard_negated ? all_lanes : 0;
        }
    }

    void decode_branch_table(const statement &s)
    {
        operand a = source(operand_at(s, 0), type::u32);
        emit(nullptr).ins.a = a;
    }

    void decode_leave(const statement &s)
    {
        draft &d = emit(nullptr);
        if (s.op[0] == "exit") d.ins.flags = leaves_kernel;
        if (s.guard >= 0) {
            d.ins.guard = static_cast<operand>(s.guard);
            d.ins.guard_flip = s.guard_negated ? all_lanes : 0;
        }
    }

    void decode_barrier(const statement &s)
    {
        bool arrive = has_part(s, "arrive"), reduce = has_part(s, "red");
        std::size_t at = reduce ? 1 : 0, left = s.operands.size() - at;
        operand a = source(operand_at(s, at), type::u32), b = no_operand, p = no_operand,
                d = no_operand;
        std::size_t counted = reduce ? 3 : 2;
        if (left == counted) b = source(operand_at(s, at + 1), type::u32);
        std::uint32_t what = arrive ? 1 : 0;
        std::uint8_t flags = 0;
        if (reduce) {
            what = has_part(s, "popc") ? 2 : has_part(s, "and") ? 3 : 4;
            p = source(s.operands.back(), type::pred);
            if (s.operands.back().negated) flags |= negate_c;
            d = destination(s.operands[0], what == 2 ? type::u32 : type::pred);
            if (!pending_resize_.empty()) throw unknown{};
        }
        draft &x = emit(nullptr);
        x.ins.a = a;
        x.ins.b = b;
        x.ins.c = p;
        x.ins.d = d;
        x.ins.extra = what;
        x.ins.flags = flags;
    }

    void decode_warp_sync(const statement &s)
    {
        auto op = s.op[0];
        draft d;
        operand mask = no_operand;
        // Before compute_70 there was no mask: the converged lanes take part.
        const bool masked = has_part(s, "sync") || op == "bar" || op == "barrier";
        const std::size_t unmasked = op == "vote" ? 2 : op == "shfl" ? 4 + s.paired : 0;
        if (!masked && s.operands.size() != unmasked) throw unknown{};
        if (!masked) mask = computed("core.activemask", type::u32, {});
        std::string name = "core." + std::string(op);
        if (op == "shfl") {
            if (masked) mask = source(s.operands.back(), type::u32);
            std::size_t first = s.paired ? 2 : 1;
            d.ins.a = source(operand_at(s, first), type::b32);
            d.ins.b = source(operand_at(s, first + 1), type::u32);
            d.ins.c = source(operand_at(s, first + 2), type::u32);
            d.ins.d = destination(s.operands[0], type::b32);
            if (s.paired && s.operands[1].what == kind::reg) {
                d.ins.offset = s.operands[1].id;
                d.offset_writes = true;
            } else {
                d.ins.offset = -1;
            }
            name += "." + mode_of(s, {"up", "down", "bfly", "idx"});
        } else if (op == "vote") {
            if (masked) mask = source(operand_at(s, 2), type::u32);
            d.ins.a = source(operand_at(s, 1), type::pred);
            if (s.operands[1].negated) d.ins.flags = negate_a;
            std::string mode = mode_of(s, {"ballot", "any", "all", "uni"});
            d.ins.d = destination(s.operands[0], mode == "ballot" ? type::u32 : type::pred);
            name += "." + mode;
        } else if (op == "match") {
            mask = source(s.operands.back(), type::u32);
            type t = last_type(s);
            d.ins.a = source(operand_at(s, s.paired ? 2 : 1), t);
            d.ins.wide = is_wide(t) ? 1 : 0;
            d.ins.d = destination(s.operands[0], type::u32);
            d.ins.offset = -1;
            if (s.paired && s.operands[1].what == kind::reg) {
                d.ins.offset = s.operands[1].id;
                d.offset_writes = true;
            }
            name += "." + mode_of(s, {"any", "all"});
        } else if (op == "redux") {
            mask = source(operand_at(s, 2), type::u32);
            d.ins.a = source(operand_at(s, 1), type::u32);
            d.ins.d = destination(s.operands[0], type::u32);
            name += "." + mode_of(s, {"add", "min", "max", "and", "or", "xor"}) + "." +
                    std::string(s.op.back());
        } else {
            mask = source(operand_at(s, 0), type::u32);
            name = "core.warp_barrier";
            d.ins.flags = orders_memory;
        }
        if (!pending_resize_.empty()) throw unknown{};
        d.ins.extra = mask;
        bool reads = (mask & constant_bit) == 0, second = d.offset_writes;
        keep(d, name.c_str());
        drafts_.back().extra_reads = reads;
        drafts_.back().offset_writes = second;
    }

    std::string mode_of(const statement &s, std::initializer_list<const char *> modes)
    {
        for (const char *m : modes)
            if (has_part(s, m)) return m;
        throw unknown{};
    }

    void decode_call(const statement &s)
    {
        call_site site;
        std::size_t k = 0;
        auto take_list = [&](std::vector<std::uint32_t> &at, std::vector<std::uint32_t> &bytes) {
            for (const auto &e : s.operands[k].elements) {
                auto a = arguments_.find(e.name);
                if (a == arguments_.end()) throw unknown{};
                at.push_back(a->second.first);
                bytes.push_back(a->second.second);
            }
            ++k;
        };
        if (operand_at(s, k).what == kind::list) take_list(site.out, site.out_bytes);
        const auto &target = operand_at(s, k++);
        if (k < s.operands.size() && s.operands[k].what == kind::list)
            take_list(site.in, site.in_bytes);
        operand a = no_operand;
        if (target.what == kind::reg) {
            a = source(target, type::u64);
        } else if (target.what == kind::symbol) {
            site.callee = in_.function_index(target.name);
            if (site.callee < 0) site.builtin = target.name;
        } else {
            throw unknown{};
        }
        if (site.callee < 0 && a == no_operand && !is_builtin(site.builtin)) throw unknown{};
        draft &d = emit(nullptr);
        d.ins.a = a;
        d.ins.extra = static_cast<std::uint32_t>(out_.calls.size());
        out_.calls.push_back(std::move(site));
    }

    struct resize_request {
        operand to, from;
        ptx::type type;
    };

    code &out_;
    const decode_input &in_;
    std::vector<draft> drafts_;
    std::vector<register_class> classes_;
    std::vector<type> types_;
    std::vector<char> leaders_;
    std::vector<char> guesses_; // by statement
    std::vector<int> block_of_;
    std::map<std::pair<std::uint64_t, int>, operand> constants_;
    std::unordered_map<operand, register_class> constant_classes_;
    std::unordered_map<std::string, std::uint32_t> locals_;
    std::unordered_map<std::string, extent> own_parameters_, arguments_;
    std::vector<resize_request> pending_resize_;
    std::uint32_t current_ = 0;
    operand guard_ = no_operand;
    std::uint32_t guard_flip_ = 0;
    bool closed_ = false;
};

} // namespace

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
    if (t == type::pred) return register_class::predicate;
    return ptx::size_of(t) == 8 ? register_class::wide : register_class::narrow;
}

void decode(code &out, ptx::body body, const decode_input &input)
{
    out.source = input.source;
    out.name = input.source->name;
    out.body = std::move(body);
    decoder(out, input).run();
}

// The innermost place in the directory of the function's own file: a helper in the program's own
// header counts at its own line, and the toolkit's inline functions at the line that calls them.
place_name place_shown(const ptx::body &b, const ptx::module_text &m, int place, int first_place)
{
    if (place < 0) return {};
    auto file_of = [&](int p) {
        auto f = m.files.find(b.places[p].file);
        return f == m.files.end() ? std::string() : f->second;
    };
    auto directory = [](const std::string &f) { return f.substr(0, f.rfind('/') + 1); };
    std::string home = first_place < 0 ? "" : directory(file_of(first_place));
    int p = place;
    while (b.places[p].parent >= 0 && b.places[p].parent != p && directory(file_of(p)) != home)
        p = b.places[p].parent;
    return {file_of(p), b.places[p].line};
}

special special_named(std::string_view name)
{
    static const std::map<std::string_view, special> names = {
        {"ntid.x", special::ntid_x},
        {"ntid.y", special::ntid_y},
        {"ntid.z", special::ntid_z},
        {"ctaid.x", special::ctaid_x},
        {"ctaid.y", special::ctaid_y},
        {"ctaid.z", special::ctaid_z},
        {"nctaid.x", special::nctaid_x},
        {"nctaid.y", special::nctaid_y},
        {"nctaid.z", special::nctaid_z},
        {"warpid", special::warpid},
        {"nwarpid", special::nwarpid},
        {"smid", special::smid},
        {"nsmid", special::nsmid},
        {"dynamic_smem_size", special::dynamic_smem_size},
        {"total_smem_size", special::total_smem_size},
        {"tid.x", special::tid_x},
        {"tid.y", special::tid_y},
        {"tid.z", special::tid_z},
        {"laneid", special::laneid},
        {"lanemask_eq", special::lanemask_eq},
        {"lanemask_le", special::lanemask_le},
        {"lanemask_lt", special::lanemask_lt},
        {"lanemask_ge", special::lanemask_ge},
        {"lanemask_gt", special::lanemask_gt},
        {"clock", special::clock},
        {"clock_hi", special::clock_hi},
        {"clock64", special::clock64},
        {"globaltimer", special::globaltimer},
        {"globaltimer_lo", special::globaltimer_lo},
        {"globaltimer_hi", special::clock_hi},
        {"gridid", special::zero},
        {"tid.w", special::zero},
        {"ntid.w", special::zero},
        {"ctaid.w", special::zero},
        {"nctaid.w", special::zero},
        // Cooperative groups find the workspace of a cooperative launch here.
        {"envreg1", special::grid_workspace_high},
        {"envreg2", special::grid_workspace_low},
    };
    if (auto it = names.find(name); it != names.end()) return it->second;
    return name.starts_with("envreg") ? special::zero : special::unknown;
}

} // namespace simulator::core
