// The PTX parser: a module reader and a body reader.
#include "ptx_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <unordered_map>

namespace simulator::ptx {
namespace {

struct type_row {
    std::string_view name;
    ptx::type type;
    std::uint32_t bytes;
};
constexpr type_row type_rows[] = {
    {"pred", type::pred, 1},   {"b8", type::b8, 1},     {"b16", type::b16, 2},
    {"b32", type::b32, 4},     {"b64", type::b64, 8},   {"b128", type::b128, 16},
    {"u8", type::u8, 1},       {"u16", type::u16, 2},   {"u32", type::u32, 4},
    {"u64", type::u64, 8},     {"s8", type::s8, 1},     {"s16", type::s16, 2},
    {"s32", type::s32, 4},     {"s64", type::s64, 8},   {"f16", type::f16, 2},
    {"f16x2", type::f16x2, 4}, {"bf16", type::bf16, 2}, {"bf16x2", type::bf16x2, 4},
    {"f32", type::f32, 4},     {"f64", type::f64, 8},
};

constexpr std::uint64_t max_alignment = 1 << 16;
constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 40;
constexpr std::size_t max_module_bytes = 64 << 20;
constexpr std::size_t max_registers = 1 << 20; // per function
constexpr int max_nesting = 16;                // operands within operands

std::uint32_t take_alignment(lexer &in)
{
    const int line = in.line();
    const std::uint64_t n = take_number(in);
    if (n == 0 || (n & (n - 1)) != 0 || n > max_alignment)
        refuse(line, "an alignment of " + std::to_string(n) +
                         " bytes: it must be a power of two of at most " +
                         std::to_string(max_alignment));
    return static_cast<std::uint32_t>(n);
}

space space_named(std::string_view t)
{
    if (t == ".shared") return space::shared;
    if (t == ".const") return space::constant;
    if (t == ".local") return space::local;
    if (t == ".param") return space::param;
    return space::global;
}

// Reads .align 4 .b8 of `.align 4 .b8 name[64], other;`; the words before are already taken.
variable take_kind(lexer &in, ptx::space where)
{
    variable v;
    v.space = where;
    v.text_line = in.line();
    std::uint32_t count = 1;
    while (in.token().starts_with(".")) {
        auto t = in.take_directive();
        if (t == ".align") {
            v.align = take_alignment(in);
        } else if (t == ".v2" || t == ".v4") {
            count = t == ".v2" ? 2 : 4;
        } else if (t == ".ptr" || t == ".global" || t == ".const" || t == ".shared" ||
                   t == ".local" || t.starts_with(".attribute")) {
            if (t.starts_with(".attribute")) {
                in.expect("(");
                while (!in.accept(")")) v.managed |= in.take() == ".managed";
            }
        } else if (v.type = type_named(t.substr(1)); v.type == type::none) {
            fail(v.text_line, "`" + std::string(t) + "` is not a type known here");
        }
    }
    v.bytes = std::uint64_t{size_of(v.type)} * count;
    v.align = std::max(v.align, static_cast<std::uint32_t>(v.bytes));
    if (v.bytes > 16) v.align = 16;
    return v;
}

// Reads name[64] of such a declaration.
variable take_named(lexer &in, variable v)
{
    v.name = in.take();
    while (in.accept("[")) {
        const std::uint64_t count = in.at("]") ? 0 : take_number(in);
        if (__builtin_mul_overflow(v.bytes, count, &v.bytes) || v.bytes > max_variable_bytes)
            refuse(v.text_line, v.name + " is larger than any memory");
        in.expect("]");
    }
    return v;
}

variable take_variable(lexer &in, ptx::space where) { return take_named(in, take_kind(in, where)); }

initial_value take_initial_value(lexer &in)
{
    initial_value v;
    if (starts_number(in) || in.at("(") || in.done()) {
        char real = 0;
        v.bits = take_number(in, &real);
        return v;
    }
    std::string_view name = in.take();
    if (name == "generic" && in.accept("(")) {
        v.generic = true;
        name = in.take();
        in.expect(")");
    } else if (in.at("(")) {
        fail(in.line(), "initialiser `" + std::string(name) + "(...)` is not known here");
    }
    v.symbol = name;
    if (in.accept("+")) v.bits = take_number(in);
    return v;
}

void take_initialisers(lexer &in, variable &v)
{
    if (!in.accept("{")) {
        v.values.push_back(take_initial_value(in));
        return;
    }
    int depth = 1; // nested braces, in arrays of arrays, only group
    while (depth > 0) {
        if (in.accept("{")) {
            ++depth;
        } else if (in.accept("}")) {
            --depth;
        } else if (!in.accept(",")) {
            v.values.push_back(take_initial_value(in));
        }
    }
}

std::vector<variable> take_parameters(lexer &in)
{
    std::vector<variable> list;
    in.expect("(");
    while (!in.accept(")")) {
        auto t = in.take_directive();
        if (t != ".param" && t != ".reg")
            fail(in.line(), "expected .param, found " + std::string(t));
        list.push_back(take_variable(in, space::param));
        list.back().in_register = t == ".reg";
        in.accept(",");
    }
    return list;
}

function take_function(lexer &in, bool entry)
{
    function f;
    f.entry = entry;
    if (!entry && in.at("(")) f.results = take_parameters(in);
    f.name = in.take();
    if (in.at("(")) f.parameters = take_parameters(in);
    while (!in.done() && !in.at("{") && !in.at(";")) {
        auto t = in.take();
        if (t == ".maxntid" || t == ".reqntid") {
            std::uint64_t product = take_number(in);
            while (in.accept(",")) product *= take_number(in);
            f.max_threads = static_cast<std::uint32_t>(product);
        } else if (!t.starts_with(".") && t != "," && !is_digit(t[0])) {
            fail(in.line(), "`" + std::string(t) + "` in the head of " + f.name);
        }
    }
    if (in.accept(";")) return f;
    in.expect("{");
    f.defined = true;
    f.text_line = in.line();
    f.text = in.take_braces();
    return f;
}

void skip_to_semicolon(lexer &in)
{
    while (!in.accept(";")) in.take();
}

void take_file(lexer &in, module_text &m)
{
    int index = static_cast<int>(take_number(in));
    auto name = in.take();
    m.files[index] = std::string(name.substr(1, name.size() - 2));
    while (in.accept(",")) take_number(in);
}

void take_linkage(lexer &in, module_text &m)
{
    bool external = false;
    for (;;) {
        if (in.at(".extern")) external = true;
        if (!in.accept(".extern") && !in.accept(".visible") && !in.accept(".weak") &&
            !in.accept(".common"))
            break;
    }
    int line = in.line();
    auto t = in.take_directive();
    if (t == ".entry" || t == ".func") {
        m.functions.push_back(take_function(in, t == ".entry"));
        return;
    }
    if (t != ".global" && t != ".const" && t != ".shared")
        fail(line, "`" + std::string(t) + "` is not understood at module level");
    variable kind = take_kind(in, space_named(t));
    kind.external = external;
    for (;;) {
        variable v = take_named(in, kind);
        if (in.accept("=")) take_initialisers(in, v);
        m.variables.push_back(std::move(v));
        if (!in.accept(",")) break;
    }
    in.expect(";");
}

} // namespace

type type_named(std::string_view name)
{
    for (const auto &row : type_rows)
        if (row.name == name) return row.type;
    return type::none;
}

std::uint32_t size_of(ptx::type t)
{
    for (const auto &row : type_rows)
        if (row.type == t) return row.bytes;
    return 0;
}

const function *module_text::find(std::string_view name) const
{
    if (auto a = aliases.find(std::string(name)); a != aliases.end()) name = a->second;
    const function *declared = nullptr;
    for (const auto &f : functions)
        if (f.name == name) {
            if (f.defined) return &f;
            declared = &f;
        }
    return declared;
}

std::string statement::opcode() const
{
    std::string s;
    for (auto part : op) {
        if (!s.empty()) s += '.';
        s += part;
    }
    return s;
}

bool has_part(const statement &s, std::string_view part)
{
    return std::find(s.op.begin(), s.op.end(), part) != s.op.end();
}

module_text parse_module(std::string_view text)
{
    module_text m;
    m.text = text.substr(0, text.find('\0'));
    if (m.text.size() > max_module_bytes)
        refuse(1, "a text of " + std::to_string(m.text.size() >> 20) + " MiB; at most " +
                      std::to_string(max_module_bytes >> 20) + " are read");
    lexer in(m.text, 1);
    if (!in.accept(".version")) fail(in.line(), "expected .version: this is not PTX");
    in.take();
    while (!in.done()) {
        if (in.accept(".target")) {
            in.take();
            while (in.accept(",")) in.take();
        } else if (in.accept(".address_size")) {
            if (take_number(in) != 64) fail(in.line(), "only 64-bit addresses are supported");
        } else if (in.accept(".file")) {
            take_file(in, m);
        } else if (in.accept(".section")) {
            in.take();
            in.expect("{");
            in.take_braces();
        } else if (in.accept(".pragma")) {
            skip_to_semicolon(in);
        } else if (in.accept(".alias")) {
            auto name = in.take();
            in.expect(",");
            m.aliases[std::string(name)] = in.take();
            in.expect(";");
        } else if (!in.accept(";")) {
            take_linkage(in, m);
        }
    }
    return m;
}

namespace {

// Reads one function's body: scopes of registers and labels, statements, the line table.
class body_reader {
public:
    explicit body_reader(const function &f) : in_(f.text, f.text_line), function_(f)
    {
        scopes_.push_back({});
    }

    body read()
    {
        read_register_parameters();
        while (!in_.done()) read_item();
        if (stack_ != 0) fail(in_.line(), "a brace is never closed");
        store_register_results(statement{});
        for (auto &t : pending_) resolve(t);
        return std::move(out_);
    }

private:
    struct register_range {
        int first, count;
        ptx::type type;
    };
    struct scope {
        int parent = -1;
        std::unordered_map<std::string_view, register_range> plain, ranges, vectors;
        std::unordered_map<std::string_view, int> labels;
        std::unordered_map<std::string_view, std::vector<std::string_view>> tables;
    };
    struct pending_target {
        std::size_t statement;
        std::string_view label;
        int scope, line;
    };

    void read_item()
    {
        if (in_.accept("{")) {
            scopes_.push_back({});
            scopes_.back().parent = stack_;
            stack_ = static_cast<int>(scopes_.size()) - 1;
        } else if (in_.accept("}")) {
            if (stack_ == 0) fail(in_.line(), "`}` closes nothing");
            stack_ = scopes_[stack_].parent;
        } else if (in_.accept(";")) {
        } else if (in_.token().starts_with(".")) {
            read_directive();
        } else {
            read_statement_or_label();
        }
    }

    void read_directive()
    {
        auto t = in_.take_directive();
        if (t == ".reg") {
            read_registers();
        } else if (t == ".loc") {
            read_place();
        } else if (t == ".local" || t == ".shared" || t == ".param" || t == ".global" ||
                   t == ".const") {
            const variable kind = take_kind(in_, space_named(t));
            do {
                out_.variables.push_back(take_named(in_, kind));
                if (in_.accept("=")) take_initialisers(in_, out_.variables.back());
            } while (in_.accept(","));
            in_.expect(";");
        } else if (t == ".pragma") {
            skip_to_semicolon(in_);
        } else if (t == ".file") {
            fail(in_.line(), ".file inside a function");
        } else {
            fail(in_.line(), "`" + std::string(t) + "` is not understood inside a function");
        }
    }

    void read_registers()
    {
        auto t = in_.take_directive();
        const std::uint64_t elements = t == ".v2" ? 2 : t == ".v4" ? 4 : 1;
        if (elements > 1) t = in_.take_directive();
        auto kind = type_named(t.substr(1));
        if (kind == type::none) fail(in_.line(), "`" + std::string(t) + "` is not a register type");
        do {
            auto name = in_.take();
            auto &known = scopes_[stack_];
            if (elements == 1 && in_.accept("<")) {
                known.ranges[name] = add_registers(kind, take_count(in_));
                in_.expect(">");
            } else {
                declare(name, kind, elements);
            }
        } while (in_.accept(","));
        in_.expect(";");
    }

    // Declares one register, or the registers of a vector: `foo` of `.reg .v2 .u32 foo`.
    void declare(std::string_view name, ptx::type kind, std::uint64_t elements)
    {
        auto &known = scopes_[stack_];
        (elements > 1 ? known.vectors : known.plain)[name] = add_registers(kind, elements);
    }

    register_range add_registers(ptx::type kind, std::uint64_t count)
    {
        const std::size_t first = out_.registers.size();
        if (first > max_registers || count > max_registers - first)
            refuse(in_.line(), "too many registers");
        out_.registers.resize(first + count, kind);
        return {static_cast<int>(first), static_cast<int>(count), kind};
    }

    // ---- parameters, results and operands of calls that are registers ----

    // They are passed like those in `.param`: registers are stored there and loaded again.

    void read_register_parameters()
    {
        for (const auto *list : {&function_.parameters, &function_.results})
            for (const variable &v : *list) {
                if (!v.in_register) continue;
                if (v.bytes == 0 || v.bytes / size_of(v.type) > 4 || size_of(v.type) > 8)
                    refuse(v.text_line, "a register parameter of that size");
                declare(v.name, v.type, v.bytes / size_of(v.type));
                if (list == &function_.parameters) move_parameter(statement{}, v.name, false, {});
            }
    }

    // Inserts the stores before `like`, a `ret`, or at the end of the text.
    void store_register_results(const statement &like)
    {
        for (const variable &v : function_.results)
            if (v.in_register) move_parameter(like, v.name, true, {});
    }

    // Adds a statement with the guard of `like`.
    void add(const statement &like, std::vector<std::string_view> op, std::vector<operand> operands)
    {
        statement s;
        s.op = std::move(op);
        s.operands = std::move(operands);
        s.guard = like.guard;
        s.guard_negated = like.guard_negated;
        s.place = place_;
        s.text_line = like.text_line != 0 ? like.text_line : function_.text_line;
        out_.statements.push_back(std::move(s));
    }

    static operand register_operand(int id)
    {
        operand o;
        o.what = operand::kind::reg;
        o.id = id;
        return o;
    }
    static operand number_operand(std::uint64_t bits)
    {
        operand o;
        o.what = operand::kind::immediate;
        o.bits = bits;
        return o;
    }

    // Stores registers to the `.param` variable of that name, or loads them: those in `data`, or
    // the function's own of the same name.
    void move_parameter(const statement &like, const std::string &name, bool store, operand data)
    {
        if (data.what == operand::kind::none) {
            const scope &own = scopes_[0];
            const auto v = own.vectors.find(name), p = own.plain.find(name);
            if (v != own.vectors.end())
                data = vector_operand(v->second);
            else
                data = register_operand(p->second.first);
        }
        operand at;
        at.what = operand::kind::address;
        at.name = name;
        const bool vector = data.what == operand::kind::vector;
        const int first = vector ? data.elements[0].id : data.id;
        const ptx::type kind = out_.registers[static_cast<std::size_t>(first)];
        if (kind == type::pred && !vector) {
            const operand byte = register_operand(static_cast<int>(out_.registers.size()));
            out_.registers.push_back(type::u32);
            if (store) {
                add(like, {"selp", "u32"}, {byte, number_operand(1), number_operand(0), data});
                add(like, {"st", "param", "u8"}, {at, byte});
            } else {
                add(like, {"ld", "param", "u8"}, {byte, at});
                add(like, {"setp", "ne", "u32"}, {data, byte, number_operand(0)});
            }
            return;
        }
        static constexpr std::string_view bits[] = {"b8", "b16", "b32", "b64"};
        std::vector<std::string_view> op = {store ? "st" : "ld", "param"};
        if (vector) op.push_back(data.elements.size() == 2 ? "v2" : "v4");
        op.push_back(bits[__builtin_ctz(size_of(kind))]);
        if (store)
            add(like, std::move(op), {at, data});
        else
            add(like, std::move(op), {data, at});
    }

    // Turns registers among a call's operands into `.param` variables of their size.
    void add_call(statement s)
    {
        std::vector<std::pair<std::string, operand>> loads;
        for (std::size_t k = 0; k < s.operands.size(); ++k) {
            if (s.operands[k].what != operand::kind::list) continue;
            for (operand &e : s.operands[k].elements) {
                const bool vector = e.what == operand::kind::vector;
                if (e.what != operand::kind::reg && !vector) continue;
                const std::string name = passed(e, vector, k == 0, &e - &s.operands[k].elements[0]);
                if (k == 0)
                    loads.emplace_back(name, e);
                else
                    move_parameter(s, name, true, e);
                e = operand{};
                e.what = operand::kind::symbol;
                e.name = name;
            }
        }
        const statement like = s;
        out_.statements.push_back(std::move(s));
        for (const auto &[name, data] : loads) move_parameter(like, name, false, data);
    }

    // Creates a `.param` variable for the registers and returns its name.
    std::string passed(const operand &e, bool vector, bool result, std::ptrdiff_t index)
    {
        for (const operand &part : e.elements)
            if (part.what != operand::kind::reg) fail(in_.line(), "a vector of no registers");
        if (vector && e.elements.empty()) fail(in_.line(), "a vector of nothing");
        const operand &first = vector ? e.elements[0] : e;
        if (first.bits != 0) fail(in_.line(), "a sum as an operand of a call");
        variable v;
        v.space = space::param;
        v.type = out_.registers[static_cast<std::size_t>(first.id)];
        if (size_of(v.type) > 8) fail(in_.line(), "an operand of a call larger than 8 bytes");
        v.bytes = size_of(v.type) * (vector ? e.elements.size() : 1);
        v.align = static_cast<std::uint32_t>(v.bytes);
        v.text_line = in_.line();
        v.name = (result ? "result " : "argument ") + std::to_string(index) + " of " +
                 std::to_string(v.bytes) + " bytes";
        out_.variables.push_back(v);
        return v.name;
    }

    static operand vector_operand(const register_range &range)
    {
        operand o;
        o.what = operand::kind::vector;
        for (int k = 0; k < range.count; ++k)
            o.elements.push_back(register_operand(range.first + k));
        return o;
    }

    void read_place()
    {
        source_place p;
        p.file = static_cast<int>(take_number(in_));
        p.line = static_cast<int>(take_number(in_));
        p.column = static_cast<int>(take_number(in_));
        while (in_.accept(",")) {
            auto t = in_.take();
            if (t == "function_name") {
                in_.take();
                if (in_.accept("+")) take_number(in_);
            } else if (t == "inlined_at") {
                int file = static_cast<int>(take_number(in_));
                int line = static_cast<int>(take_number(in_));
                int column = static_cast<int>(take_number(in_));
                p.parent = place_of(file, line, column);
            } else {
                fail(in_.line(), "`" + std::string(t) + "` in .loc");
            }
        }
        place_ = static_cast<int>(out_.places.size());
        out_.places.push_back(p);
        latest_[{p.file, p.line, p.column}] = place_;
    }

    // Returns the last row of that position: the compiler writes a caller's row before its
    // callee's.
    int place_of(int file, int line, int column)
    {
        auto it = latest_.find({file, line, column});
        if (it != latest_.end()) return it->second;
        out_.places.push_back({file, line, column, -1});
        return static_cast<int>(out_.places.size()) - 1;
    }

    void read_statement_or_label()
    {
        statement s;
        s.text_line = in_.line();
        s.place = place_;
        auto t = in_.take();
        if (t == "@") {
            s.guard_negated = in_.accept("!");
            auto name = in_.take();
            s.guard = find_register(name);
            if (s.guard < 0 || out_.registers[static_cast<std::size_t>(s.guard)] != type::pred)
                fail(s.text_line, "unknown predicate " + std::string(name));
            t = in_.take();
        } else if (in_.accept(":")) {
            read_label(t);
            return;
        }
        if (!word_character(t[0]))
            fail(s.text_line, "`" + std::string(t) + "` where an instruction should be");
        split(t, s.op);
        read_operands(s);
        if (s.op[0] == "call") return add_call(std::move(s));
        if (s.op[0] == "ret") store_register_results(s);
        out_.statements.push_back(std::move(s));
    }

    void read_label(std::string_view name)
    {
        if (in_.at(".branchtargets")) {
            in_.take();
            auto &table = scopes_[stack_].tables[name];
            do table.push_back(in_.take());
            while (in_.accept(","));
            in_.expect(";");
        } else if (in_.at(".callprototype") || in_.at(".calltargets")) {
            skip_to_semicolon(in_);
        } else {
            scopes_[stack_].labels[name] = static_cast<int>(out_.statements.size());
        }
    }

    static void split(std::string_view t, std::vector<std::string_view> &parts)
    {
        while (!t.empty()) {
            auto dot = t.find('.');
            parts.push_back(t.substr(0, dot));
            t = dot == t.npos ? std::string_view() : t.substr(dot + 1);
        }
    }

    void read_operands(statement &s)
    {
        bool branch = s.op[0] == "bra", table = s.op[0] == "brx";
        in_call_ = s.op[0] == "call";
        while (!in_.accept(";")) {
            if (branch || (table && s.operands.size() == 1)) {
                pending_.push_back({out_.statements.size(), in_.take(), stack_, s.text_line});
            } else {
                s.operands.push_back(read_operand());
                if (in_.accept("|")) {
                    s.paired = true;
                    s.operands.push_back(read_operand());
                }
            }
            if (!in_.at(";")) in_.expect(",");
        }
    }

    operand read_operand()
    {
        if (nested_ == max_nesting)
            refuse(in_.line(), "an operand within " + std::to_string(max_nesting) + " others");
        ++nested_;
        operand o = read_operand_here();
        --nested_;
        return o;
    }

    operand read_operand_here()
    {
        operand o;
        if (in_.accept("[")) {
            o = read_operand();
            if (o.what == operand::kind::immediate) o.id = -1;
            o.what = operand::kind::address;
            while (in_.accept(",")) o.elements.push_back(read_operand()); // of a texture
            in_.expect("]");
        } else if (in_.accept("{")) {
            o.what = operand::kind::vector;
            while (!in_.accept("}")) {
                o.elements.push_back(read_operand());
                in_.accept(",");
            }
        } else if (in_call_ && in_.accept("(")) {
            o.what = operand::kind::list;
            while (!in_.accept(")")) {
                o.elements.push_back(read_operand());
                in_.accept(",");
            }
        } else if (starts_number(in_) || in_.at("(")) {
            o.what = operand::kind::immediate;
            o.bits = take_number(in_, &o.real);
        } else {
            o.negated = in_.accept("!");
            read_name(o);
        }
        return o;
    }

    void read_name(operand &o)
    {
        int line = in_.line();
        auto name = in_.take();
        if (!word_character(name[0]))
            fail(line, "`" + std::string(name) + "` where an operand should be");
        if (name == "_") {
            o.what = operand::kind::discard;
        } else if (int id = find_register(name); id >= 0) {
            o.what = operand::kind::reg;
            o.id = id;
        } else if (const register_range *v = find_vector(name)) {
            o = vector_operand(*v);
            return;
        } else if (name[0] == '%') {
            o.what = operand::kind::special;
            o.name = name.substr(1);
        } else {
            o.what = operand::kind::symbol;
            o.name = name;
        }
        if (in_.accept("+"))
            o.bits = take_number(in_);
        else if (in_.at("-"))
            o.bits = take_number(in_);
    }

    int find_register(std::string_view name) const
    {
        auto digits = name.size();
        while (digits > 0 && is_digit(name[digits - 1])) --digits;
        int index = -1;
        if (digits < name.size())
            std::from_chars(name.data() + digits, name.data() + name.size(), index);
        for (int s = stack_; s >= 0; s = scopes_[s].parent) {
            const scope &c = scopes_[s];
            if (auto p = c.plain.find(name); p != c.plain.end()) return p->second.first;
            if (index < 0) continue;
            auto r = c.ranges.find(name.substr(0, digits));
            if (r != c.ranges.end() && index < r->second.count) return r->second.first + index;
        }
        return find_element(name);
    }

    const register_range *find_vector(std::string_view name) const
    {
        for (int s = stack_; s >= 0; s = scopes_[s].parent)
            if (auto v = scopes_[s].vectors.find(name); v != scopes_[s].vectors.end())
                return &v->second;
        return nullptr;
    }

    // Finds `foo.x` of a vector register.
    int find_element(std::string_view name) const
    {
        if (name.size() < 3 || name[name.size() - 2] != '.') return -1;
        const register_range *v = find_vector(name.substr(0, name.size() - 2));
        if (v == nullptr) return -1;
        for (const std::string_view letters : {"xyzw", "rgba"})
            if (auto k = letters.find(name.back()); k < static_cast<std::size_t>(v->count))
                return v->first + static_cast<int>(k);
        return -1;
    }

    int find_label(std::string_view name, int from) const
    {
        for (int s = from; s >= 0; s = scopes_[s].parent)
            if (auto l = scopes_[s].labels.find(name); l != scopes_[s].labels.end())
                return l->second;
        return -1;
    }

    void resolve(const pending_target &t)
    {
        auto &targets = out_.statements[t.statement].targets;
        for (int s = t.scope; s >= 0; s = scopes_[s].parent)
            if (auto table = scopes_[s].tables.find(t.label); table != scopes_[s].tables.end()) {
                for (auto name : table->second) targets.push_back(label_or_fail(name, t));
                return;
            }
        targets.push_back(label_or_fail(t.label, t));
    }

    int label_or_fail(std::string_view name, const pending_target &t) const
    {
        int at = find_label(name, t.scope);
        if (at < 0) fail(t.line, "no label " + std::string(name));
        return at;
    }

    lexer in_;
    const function &function_;
    body out_;
    std::vector<scope> scopes_;
    int stack_ = 0, place_ = -1, nested_ = 0;
    bool in_call_ = false;
    std::vector<pending_target> pending_;
    std::map<std::tuple<int, int, int>, int> latest_;
};

} // namespace

body parse_body(const function &f) { return body_reader(f).read(); }

} // namespace simulator::ptx
