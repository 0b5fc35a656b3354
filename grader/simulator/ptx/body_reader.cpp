// Reads the body of one function: its registers, statements and line table.
#include "declarations.hpp"
#include "scopes.hpp"

#include <map>
#include <tuple>

namespace simulator::ptx {
namespace {

constexpr std::size_t max_registers = 1 << 20; // per function
constexpr int max_nesting = 16;                // depth of operands within operands

// Reads one function's body: scopes of registers and labels, statements, the line table.
class body_reader {
public:
    explicit body_reader(const function &f) : in_(f.text, f.text_line), function_(f) {}

    body read()
    {
        read_register_parameters();
        while (!in_.done()) read_item();
        if (names_.current() != scopes::of_function) fail(in_.line(), "a brace is never closed");
        store_register_results(statement{});
        for (auto &t : pending_) resolve(t);
        return std::move(out_);
    }

private:
    struct pending_target {
        std::size_t statement;
        std::string_view label;
        int scope, line;
    };

    void read_item()
    {
        if (in_.accept("{")) {
            names_.open();
        } else if (in_.accept("}")) {
            if (!names_.close()) fail(in_.line(), "`}` closes nothing");
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
            read_location();
        } else if (t == ".local" || t == ".shared" || t == ".param" || t == ".global" ||
                   t == ".const") {
            take_variables(in_, take_variable_type(in_, space_named(t)), out_.variables);
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
            if (elements == 1 && in_.accept("<")) {
                names_.declare_range(name, add_registers(kind, take_count(in_)));
                in_.expect(">");
            } else {
                names_.declare(name, add_registers(kind, elements));
            }
        } while (in_.accept(","));
        in_.expect(";");
    }

    register_range add_registers(ptx::type kind, std::uint64_t count)
    {
        const std::size_t first = out_.registers.size();
        if (first > max_registers || count > max_registers - first)
            refuse(in_.line(), "too many registers");
        out_.registers.resize(first + count, kind);
        return {static_cast<int>(first), static_cast<int>(count)};
    }

    // ---- parameters, results and operands of calls that are registers ----

    // They become `.param` variables: the caller or the callee stores the registers there, and the
    // other side loads them.

    void read_register_parameters()
    {
        for (const auto *list : {&function_.parameters, &function_.results})
            for (const variable &v : *list) {
                if (!v.in_register) continue;
                if (v.bytes == 0 || v.bytes / size_of(v.type) > 4 || size_of(v.type) > 8)
                    refuse(v.text_line, "a register parameter of that size");
                names_.declare(v.name, add_registers(v.type, v.bytes / size_of(v.type)));
                if (list == &function_.parameters) move_parameter(statement{}, v.name, false, {});
            }
    }

    // Adds the stores that precede `like`, a `ret`, or the end of the body.
    void store_register_results(const statement &like)
    {
        for (const variable &v : function_.results)
            if (v.in_register) move_parameter(like, v.name, true, {});
    }

    // Adds a statement with the guard and the PTX line of `like`.
    void add(const statement &like, std::vector<std::string_view> op, std::vector<operand> operands)
    {
        statement s;
        s.op = std::move(op);
        s.operands = std::move(operands);
        s.guard = like.guard;
        s.guard_negated = like.guard_negated;
        s.location = location_;
        s.text_line = like.text_line != 0 ? like.text_line : function_.text_line;
        out_.statements.push_back(std::move(s));
    }

    static operand register_operand(int id) { return {.what = operand::kind::reg, .id = id}; }
    static operand number_operand(std::uint64_t bits)
    {
        return {.what = operand::kind::immediate, .bits = bits};
    }

    // Stores registers to the `.param` variable of that name, or loads them. The registers are
    // those in `data` or, if it is empty, the function's register parameter of that name.
    void move_parameter(const statement &like, const std::string &name, bool store, operand data)
    {
        if (data.what == operand::kind::none) {
            const register_range *vector = names_.find_vector(name, scopes::of_function);
            data = vector ? vector_operand(*vector)
                          : register_operand(names_.find_register(name, scopes::of_function));
        }
        const operand address{.what = operand::kind::address, .name = name};
        const bool vector = data.what == operand::kind::vector;
        const int first = vector ? data.elements[0].id : data.id;
        const ptx::type kind = out_.registers[static_cast<std::size_t>(first)];
        if (kind == type::pred && !vector) {
            const operand byte = register_operand(static_cast<int>(out_.registers.size()));
            out_.registers.push_back(type::u32);
            if (store) {
                add(like, {"selp", "u32"}, {byte, number_operand(1), number_operand(0), data});
                add(like, {"st", "param", "u8"}, {address, byte});
            } else {
                add(like, {"ld", "param", "u8"}, {byte, address});
                add(like, {"setp", "ne", "u32"}, {data, byte, number_operand(0)});
            }
            return;
        }
        static constexpr std::string_view bits[] = {"b8", "b16", "b32", "b64"};
        std::vector<std::string_view> op = {store ? "st" : "ld", "param"};
        if (vector) op.push_back(data.elements.size() == 2 ? "v2" : "v4");
        op.push_back(bits[__builtin_ctz(size_of(kind))]);
        if (store)
            add(like, std::move(op), {address, data});
        else
            add(like, std::move(op), {data, address});
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
                const std::string name =
                    add_param_variable(e, vector, k == 0, &e - &s.operands[k].elements[0]);
                if (k == 0)
                    loads.emplace_back(name, e);
                else
                    move_parameter(s, name, true, e);
                e = {.what = operand::kind::symbol, .name = name};
            }
        }
        const statement like = s;
        out_.statements.push_back(std::move(s));
        for (const auto &[name, data] : loads) move_parameter(like, name, false, data);
    }

    // Creates a `.param` variable for the registers and returns its name.
    std::string add_param_variable(const operand &e, bool vector, bool result, std::ptrdiff_t index)
    {
        for (const operand &part : e.elements)
            if (part.what != operand::kind::reg)
                fail(in_.line(), "a vector operand that holds no register");
        if (vector && e.elements.empty()) fail(in_.line(), "an empty vector operand");
        const operand &first = vector ? e.elements[0] : e;
        if (first.bits != 0) fail(in_.line(), "an address sum as the argument of a call");
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

    void read_location()
    {
        source_location p = take_location();
        while (in_.accept(",")) {
            auto t = in_.take();
            if (t == "function_name") {
                in_.take();
                if (in_.accept("+")) take_number(in_);
            } else if (t == "inlined_at") {
                p.parent = index_of(take_location());
            } else {
                fail(in_.line(), "`" + std::string(t) + "` in .loc");
            }
        }
        location_ = static_cast<int>(out_.locations.size());
        out_.locations.push_back(p);
        latest_[{p.file, p.line, p.column}] = location_;
    }

    source_location take_location()
    {
        const auto number = [&] { return static_cast<int>(take_number(in_)); };
        return {.file = number(), .line = number(), .column = number()};
    }

    // Returns the index of the last .loc of a call site: nvcc writes it before those of the inlined
    // code.
    int index_of(const source_location &p)
    {
        auto it = latest_.find({p.file, p.line, p.column});
        if (it != latest_.end()) return it->second;
        out_.locations.push_back(p);
        return static_cast<int>(out_.locations.size()) - 1;
    }

    void read_statement_or_label()
    {
        statement s;
        s.text_line = in_.line();
        s.location = location_;
        auto t = in_.take();
        if (t == "@") {
            s.guard_negated = in_.accept("!");
            auto name = in_.take();
            s.guard = names_.find_register(name, names_.current());
            if (s.guard < 0 || out_.registers[static_cast<std::size_t>(s.guard)] != type::pred)
                fail(s.text_line, "unknown predicate " + std::string(name));
            t = in_.take();
        } else if (in_.accept(":")) {
            read_label(t);
            return;
        }
        if (!word_character(t[0]))
            fail(s.text_line, "`" + std::string(t) + "` where an instruction should be");
        s.op = opcode_parts(t);
        read_operands(s);
        if (s.op[0] == "call") return add_call(std::move(s));
        if (s.op[0] == "ret") store_register_results(s);
        out_.statements.push_back(std::move(s));
    }

    void read_label(std::string_view name)
    {
        if (in_.accept(".branchtargets")) {
            auto &table = names_.add_table(name);
            do table.push_back(in_.take());
            while (in_.accept(","));
            in_.expect(";");
        } else if (in_.at(".callprototype") || in_.at(".calltargets")) {
            skip_to_semicolon(in_);
        } else {
            names_.place_label(name, out_.statements.size());
        }
    }

    void read_operands(statement &s)
    {
        bool branch = s.op[0] == "bra", table = s.op[0] == "brx";
        in_call_ = s.op[0] == "call";
        while (!in_.accept(";")) {
            if (branch || (table && s.operands.size() == 1)) {
                pending_.push_back(
                    {out_.statements.size(), in_.take(), names_.current(), s.text_line});
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
            while (in_.accept(","))
                o.elements.push_back(read_operand()); // coordinates of a texture
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
        } else if (int id = names_.find_register(name, names_.current()); id >= 0) {
            o.what = operand::kind::reg;
            o.id = id;
        } else if (const auto *v = names_.find_vector(name, names_.current())) {
            o = vector_operand(*v);
            return;
        } else if (name[0] == '%') {
            o.what = operand::kind::special;
            o.name = name.substr(1);
        } else {
            o.what = operand::kind::symbol;
            o.name = name;
        }
        if (in_.accept("+") || in_.at("-")) o.bits = take_number(in_);
    }

    void resolve(const pending_target &t)
    {
        auto &targets = out_.statements[t.statement].targets;
        if (const auto *table = names_.find_table(t.label, t.scope))
            for (auto name : *table) targets.push_back(label_or_fail(name, t));
        else
            targets.push_back(label_or_fail(t.label, t));
    }

    int label_or_fail(std::string_view name, const pending_target &t) const
    {
        int target = names_.find_label(name, t.scope);
        if (target < 0) fail(t.line, "no label " + std::string(name));
        return target;
    }

    lexer in_;
    const function &function_;
    body out_;
    scopes names_;
    int location_ = -1, nested_ = 0;
    bool in_call_ = false;
    std::vector<pending_target> pending_;
    std::map<std::tuple<int, int, int>, int> latest_;
};

} // namespace

body parse_body(const function &f) { return body_reader(f).read(); }

} // namespace simulator::ptx
