// Decodes a kernel of a module when it is first needed, with all functions that it may call.
#include "module_state.hpp"

#include <algorithm>
#include <set>

namespace simulator {

using core::code;
using core::program;

namespace {

// Findings hold 240 bytes, so the figures come first.
[[noreturn]] void refuse_shared(const std::string &kernel, std::uint64_t bytes)
{
    const std::uint64_t limit = profile().shared_per_block;
    throw ptx::refused("Static shared memory of " + std::to_string(bytes) + " bytes, and at most " +
                       std::to_string(limit) + " are allowed: " + std::to_string(bytes - limit) +
                       " too many. nvcc builds no such kernel. Make the __shared__ arrays of " +
                       kernel + " smaller, or dynamic shared memory");
}

// The names of variables and functions that a function's statements use.
std::set<std::string> names_in(const ptx::body &b)
{
    std::set<std::string> names;
    auto visit = [&](auto &self, const ptx::operand &o) -> void {
        using kind = ptx::operand::kind;
        if ((o.what == kind::symbol || o.what == kind::address) && !o.name.empty())
            names.insert(o.name);
        for (const auto &e : o.elements) self(self, e);
    };
    for (const auto &s : b.statements)
        for (const auto &o : s.operands) visit(visit, o);
    return names;
}

} // namespace

int module::state::function_index(std::string_view name) const
{
    const ptx::function *f = text.find(name);
    return f != nullptr && f->defined ? static_cast<int>(f - text.functions.data()) : -1;
}

std::unique_ptr<program> module::state::prepare(const ptx::function &entry)
{
    auto p = std::make_unique<program>();
    p->entry_index = function_index(entry.name);
    p->display_name = demangled_name(entry.name);
    p->functions.resize(text.functions.size());
    std::map<int, ptx::body> bodies;
    std::vector<int> work{p->entry_index};
    core::area shared_memory("Kernel " + p->display_name + " uses too much shared memory",
                             max_addresses);
    std::uint32_t dynamic_align = 16;
    auto add_shared = [&](const ptx::variable &v) {
        if (v.bytes == 0) {
            dynamic_align = std::max(dynamic_align, v.align);
        } else if (!p->shared_offsets.count(v.name)) {
            p->shared_offsets[v.name] = shared_memory.place(v);
        }
    };
    bool calls_indirectly = false; // any function of the module may be called then
    std::set<std::string> dynamic;
    auto reach = [&](int index) {
        // A kernel that this one launches is a program of its own.
        if (index >= 0 && !bodies.count(index) && !text.functions[index].entry)
            work.push_back(index);
    };
    auto visit = [&](int index) {
        auto &b = bodies[index] = ptx::parse_body(text.functions[index]);
        for (const auto &v : b.variables) {
            if (v.space == ptx::space::shared) add_shared(v);
            if (v.space == ptx::space::global || v.space == ptx::space::constant)
                place_function_variable(v, index);
        }
        for (const auto &name : names_in(b)) {
            if (auto s = shared.find(name); s != shared.end()) {
                add_shared(*s->second);
                if (s->second->bytes == 0) dynamic.insert(name);
            }
            reach(function_index(name));
        }
        for (const auto &s : b.statements)
            if (s.op[0] == "call")
                for (const auto &o : s.operands)
                    calls_indirectly |= o.what == ptx::operand::kind::reg;
    };
    bool added_all = false;
    while (!work.empty()) {
        int index = work.back();
        work.pop_back();
        if (!bodies.count(index)) visit(index);
        if (calls_indirectly && !added_all && work.empty()) {
            added_all = true;
            for (std::size_t f = 0; f < text.functions.size(); ++f)
                if (text.functions[f].defined && !text.functions[f].entry)
                    reach(static_cast<int>(f));
        }
    }
    const std::uint32_t static_shared = shared_memory.bytes();
    if (static_shared > profile().shared_per_block) refuse_shared(p->display_name, static_shared);
    shared_memory.align(dynamic_align);
    p->dynamic_offset = shared_memory.bytes();
    p->has_dynamic_shared = !dynamic.empty();
    for (const auto &name : dynamic) p->shared_offsets[name] = p->dynamic_offset;
    for (auto &[index, body] : bodies) decode_function(*p, index, std::move(body));

    auto &info = p->info;
    info.name = entry.name;
    info.max_threads = entry.max_threads;
    info.static_shared = static_shared;
    const code &main = *p->functions[p->entry_index];
    for (std::size_t k = 0; k < entry.parameters.size(); ++k) {
        auto bytes = static_cast<std::uint32_t>(entry.parameters[k].bytes);
        info.parameters.push_back({main.parameter_offsets[k], bytes});
        info.parameter_bytes = std::max(info.parameter_bytes, main.parameter_offsets[k] + bytes);
    }
    for (const auto &f : p->functions)
        if (f) info.local_bytes += f->local_bytes;
    return p;
}

void module::state::decode_function(program &p, int index, ptx::body body)
{
    core::decode_input in;
    in.source = &text.functions[index];
    in.module = &text;
    in.find = [&](std::string_view name) -> std::optional<core::symbol> {
        if (auto s = p.shared_offsets.find(name); s != p.shared_offsets.end())
            return core::symbol{core::symbol::kind::shared, s->second};
        if (auto it = symbols.find(name); it != symbols.end()) return it->second;
        return std::nullopt;
    };
    in.function_index = [&](std::string_view name) { return function_index(name); };
    auto c = std::make_unique<code>();
    core::decode(*c, std::move(body), in);
    c->display_name = p.display_name;
    c->index = static_cast<std::uint32_t>(index);
    p.functions[index] = std::move(c);
}

program *module::state::find(std::string_view name)
{
    auto it = programs.find(name);
    if (it == programs.end()) {
        const auto *f = text.find(name);
        if (f == nullptr || !f->entry || !f->defined) return nullptr;
        it = programs.emplace(std::string(name), prepare(*f)).first;
    }
    return it->second.get();
}

} // namespace simulator
