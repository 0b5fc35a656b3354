// Finds loads whose value is only the expected value of a compare-and-swap, which verifies it.
#include "decoder.hpp"

#include <algorithm>

namespace simulator::core::decoding {
namespace {

std::uint32_t bytes_of(const statement &s) { return ptx::size_of(ptx::type_named(s.op.back())); }

// Flow-insensitive def-use chains of one function's registers.
class value_flow {
public:
    explicit value_flow(const ptx::body &b) : body_(b), sources_(b.registers.size())
    {
        definitions_.assign(b.registers.size(), {});
        for (const statement &s : b.statements) {
            if (s.operands.empty() || s.op[0] == "st" || s.op[0] == "red") continue;
            each_register(s.operands[0], [&](int to) {
                definitions_[index(to)].count += 1;
                definitions_[index(to)].by = &s;
            });
            const bool moves = s.op[0] == "mov" || s.op[0] == "selp";
            for (std::size_t k = 1; moves && k < s.operands.size(); ++k)
                each_register(s.operands[0], [&](int to) {
                    each_register(s.operands[k],
                                  [&](int from) { sources_[index(to)].push_back(from); });
                });
        }
    }

    // All registers that may hold a value before it is moved to this one, including this one.
    std::vector<char> origins(const ptx::operand &of) const
    {
        std::vector<char> seen(body_.registers.size(), 0);
        std::vector<int> left;
        each_register(of, [&](int r) { left.push_back(r); });
        while (!left.empty()) {
            const int r = left.back();
            left.pop_back();
            if (seen[index(r)]++ != 0) continue;
            left.insert(left.end(), sources_[index(r)].begin(), sources_[index(r)].end());
        }
        return seen;
    }

    struct symbolic_address { // register or symbol, + offset
        int root = -1;        // register id; -1: none
        std::string name;
        std::uint64_t offset = 0;
        bool operator==(const symbolic_address &) const = default;
    };

    // Follows an address back through moves and additions of constants.
    symbolic_address symbolic_address_of(const ptx::operand &address) const
    {
        symbolic_address p{address.id, address.name, address.bits};
        for (std::size_t steps = 0; p.root >= 0 && steps < body_.registers.size(); ++steps) {
            const definition &d = definitions_[index(p.root)];
            if (d.count != 1 || d.by->guard >= 0 || d.by->operands.size() < 2) break;
            const auto op = d.by->op[0];
            const ptx::operand &from = d.by->operands[1];
            if (op == "add" && d.by->operands.size() == 3 && from.what == kind::reg &&
                d.by->operands[2].what == kind::immediate)
                p.offset += d.by->operands[2].bits;
            else if (op != "mov" && op != "cvta")
                break;
            if (from.what == kind::reg) {
                p.root = from.id;
            } else if (from.what == kind::symbol) {
                p = {-1, from.name, p.offset + from.bits};
            } else {
                break;
            }
        }
        return p;
    }

private:
    struct definition {
        int count = 0;
        const statement *by = nullptr;
    };

    static std::size_t index(int r) { return static_cast<std::size_t>(r); }
    template <class F> static void each_register(const ptx::operand &o, F f)
    {
        if (o.what == kind::reg) f(o.id);
        for (const auto &e : o.elements) each_register(e, f);
    }

    const ptx::body &body_;
    std::vector<std::vector<int>> sources_;
    std::vector<definition> definitions_;
};

bool is_plain_load(const statement &s)
{
    static constexpr std::string_view other[] = {"nc",    "volatile", "relaxed", "acquire", "mmio",
                                                 "const", "local",    "v2",      "v4"};
    return s.op[0] == "ld" && s.operands.size() >= 2 && s.operands[0].what == kind::reg &&
           s.operands[1].what == kind::address &&
           std::none_of(s.op.begin(), s.op.end(), [](std::string_view p) {
               return p.starts_with("param") ||
                      std::find(std::begin(other), std::end(other), p) != std::end(other);
           });
}

} // namespace

std::vector<char> guessing_loads(const ptx::body &b)
{
    std::vector<char> guesses(b.statements.size(), 0);
    const auto swaps = [](const statement &s) {
        return s.op[0] == "atom" && has_part(s, "cas") && s.operands.size() >= 4 &&
               s.operands[1].what == kind::address;
    };
    if (std::none_of(b.statements.begin(), b.statements.end(), swaps)) return guesses;
    const value_flow flow(b);
    for (const statement &swap : b.statements) {
        if (!swaps(swap)) continue;
        const auto compared = flow.origins(swap.operands[2]);
        const auto address = flow.symbolic_address_of(swap.operands[1]);
        for (std::size_t s = 0; s < b.statements.size(); ++s) {
            const statement &load = b.statements[s];
            if (is_plain_load(load) && bytes_of(load) == bytes_of(swap) &&
                compared[static_cast<std::size_t>(load.operands[0].id)] != 0 &&
                flow.symbolic_address_of(load.operands[1]) == address)
                guesses[s] = 1;
        }
    }
    return guesses;
}

} // namespace simulator::core::decoding
