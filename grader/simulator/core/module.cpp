// A module: its variables in device memory, its kernels, and their counters.
#include "decode.hpp"
#include "device_runtime.hpp"
#include "parallel.hpp"
#include "simulator/runtime/host.hpp"
#include "weak.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

namespace simulator {

using core::code;
using core::program;

namespace core {

std::uint64_t *sector_set::page(std::uint64_t sector)
{
    // One more word is allocated: nonzero if the page is listed in touched_.
    constexpr std::uint64_t words = page_sectors / 64;
    std::uint64_t number = sector >> page_shift;
    if (number >= pages_.size()) pages_.resize(number + 1, nullptr);
    if (pages_[number] == nullptr) {
        storage_.emplace_back(words + 1, 0);
        pages_[number] = storage_.back().data();
    }
    last_page_ = number;
    last_ = pages_[number];
    if (std::exchange(last_[words], 1) == 0) touched_.push_back(number);
    return last_;
}

void sector_set::add(const sector_set &o)
{
    for (auto number : o.touched_) {
        std::uint64_t *mine = page(number << page_shift);
        for (std::uint64_t k = 0; k < page_sectors / 64; ++k) {
            const std::uint64_t fresh = o.pages_[number][k] & ~mine[k];
            count_ += static_cast<std::uint64_t>(__builtin_popcountll(fresh));
            mine[k] |= fresh;
        }
    }
}

std::vector<std::uint64_t> sector_set::touched_ranges() const
{
    constexpr std::uint64_t words = 4096 / 32 / 64;
    std::vector<std::uint64_t> all;
    for (auto number : touched_)
        for (std::uint64_t k = 0; k < page_sectors / 64; k += words)
            if (std::any_of(pages_[number] + k, pages_[number] + k + words,
                            [](std::uint64_t word) { return word != 0; }))
                all.push_back((number << page_shift) + 64 * k);
    return all;
}

void sector_set::clear()
{
    for (auto number : touched_) std::memset(pages_[number], 0, page_sectors / 8 + 8);
    touched_.clear();
    last_page_ = ~std::uint64_t{0};
    count_ = 0;
}

} // namespace core

struct module::state {
    ptx::module_text text;
    int device = 0;
    module::variables variables;
    // Device and constant variables, and functions.
    std::map<std::string, core::symbol, std::less<>> symbols;
    std::map<std::string, const ptx::variable *, std::less<>> shared; // declared by the module
    std::map<std::string, std::unique_ptr<program>, std::less<>> programs;
    core::sector_set read, written;
    core::race_checker races;
    core::weak_memory weak{races};
    std::vector<std::unique_ptr<core::thread_block>> spare;
    core::block_team team;

    // Variables declared inside a function, and the function's index
    std::map<std::string, int> inner_of;
    void place_variables(module::variables *managed);
    void place_inner(const ptx::variable &, int function);
    void place(const ptx::variable &, variable at);
    void fill(const ptx::variable &, address at);
    std::uint64_t value_of(const ptx::initial_value &, const ptx::variable &);
    int function_index(std::string_view name) const;
    std::unique_ptr<program> prepare(const ptx::function &);
    code *function(program &, int index);
    void decode_function(program &, int index, ptx::body body);
    program *find(std::string_view name); // null: no such kernel
    outcome run(program &, const launch &);
    outcome run_grid(program &, const launch &, core::device_runtime &, core::launch_node &);
    static program &transfer(bool fill, bool words);
    void add_counts(program &, const core::grid &, bool by_kernel, bool beside_host,
                    const core::sector_set &read, const core::sector_set &written);
};

namespace {

constexpr std::uint64_t max_addresses = std::uint64_t{1} << 31; // of shared or constant memory

// Findings hold 240 bytes, so the figures come first.
[[noreturn]] void refuse_shared(const std::string &kernel, std::uint64_t bytes)
{
    const std::uint64_t most = profile().shared_per_block;
    throw ptx::refused("Static shared memory of " + std::to_string(bytes) + " bytes, and at most " +
                       std::to_string(most) + " are allowed: " + std::to_string(bytes - most) +
                       " too many. nvcc builds no such kernel. Make the __shared__ arrays of " +
                       kernel + " smaller, or dynamic shared memory");
}

void check_constants(std::uint64_t bytes)
{
    const std::uint64_t most = profile().constant_bytes;
    if (bytes <= most) return;
    throw ptx::refused(
        "The file's __constant__ variables take " + std::to_string(bytes) + " bytes, and at most " +
        std::to_string(most) + " are allowed: " + std::to_string(bytes - most) +
        " too many. nvcc builds no such file. Make the arrays smaller, or __device__ "
        "variables");
}

[[noreturn]] void fail(int line, const std::string &what)
{
    throw std::runtime_error("PTX line " + std::to_string(line) + ": " + what);
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

void module::state::place(const ptx::variable &v, variable at)
{
    const auto kind =
        v.space == ptx::space::constant ? core::symbol::kind::constant : core::symbol::kind::device;
    variables[v.name] = at;
    symbols[v.name] = {kind, at.start};
}

void module::state::place_variables(module::variables *managed)
{
    auto &device_memory = memory::instance();
    for (std::size_t f = 0; f < text.functions.size(); ++f)
        symbols[text.functions[f].name] = {core::symbol::kind::function,
                                           core::code_window + 16 * f};
    std::vector<const ptx::variable *> filled;
    core::area constants("The file's __constant__ variables take too much", max_addresses);
    for (const auto &v : text.variables)
        if (v.space == ptx::space::constant && !v.external) constants.place(v);
    check_constants(constants.bytes());
    for (const auto &v : text.variables) {
        if (v.space == ptx::space::shared) {
            shared[v.name] = &v;
            continue;
        }
        if (v.external) continue; // defined elsewhere; an access to it fails by name
        if (managed && v.managed && managed->count(v.name)) {
            place(v, managed->at(v.name));
            continue;
        }
        bool is_constant = v.space == ptx::space::constant;
        auto kind = is_constant ? memory_kind::constant
                    : v.managed ? memory_kind::managed
                                : memory_kind::variable;
        auto at = device_memory.allocate(v.bytes, kind, device);
        if (!at) fail(v.text_line, "no device memory left for " + v.name);
        device_memory.label(*at, v.bytes, demangled_name(v.name));
        place(v, {*at, v.bytes});
        if (managed && v.managed) (*managed)[v.name] = {*at, v.bytes};
        filled.push_back(&v);
    }
    for (const auto *v : filled) fill(*v, variables[v->name].start);
}

void module::state::place_inner(const ptx::variable &v, int function)
{
    const auto [known, fresh] = inner_of.try_emplace(v.name, function);
    if (!fresh && known->second == function) return;
    if (symbols.count(v.name) != 0)
        fail(v.text_line, "the simulator does not offer two variables of the name " + v.name);
    const auto kind =
        v.space == ptx::space::constant ? memory_kind::constant : memory_kind::variable;
    const auto at = memory::instance().allocate(v.bytes, kind, device);
    if (!at) fail(v.text_line, "no device memory left for " + v.name);
    memory::instance().label(*at, v.bytes, v.name);
    place(v, {*at, v.bytes});
    fill(v, *at);
}

std::uint64_t module::state::value_of(const ptx::initial_value &i, const ptx::variable &v)
{
    if (i.symbol.empty()) return i.bits;
    auto it = symbols.find(i.symbol);
    if (it == symbols.end())
        fail(v.text_line, "no symbol " + i.symbol + " for the value of " + v.name);
    return it->second.value + i.bits;
}

// Variables without an initialiser start as zero, on hardware too.
void module::state::fill(const ptx::variable &v, address at)
{
    auto &device_memory = memory::instance();
    std::uint32_t size = ptx::size_of(v.type);
    if (v.values.size() * size > v.bytes) fail(v.text_line, v.name + " has more values than bytes");
    std::memset(device_memory.at(at), 0, v.bytes);
    for (std::size_t k = 0; k < v.values.size(); ++k) {
        std::uint64_t value = value_of(v.values[k], v);
        // The upper half of a 128-bit value is zero.
        std::memcpy(device_memory.at(at) + k * size, &value, std::min<std::size_t>(size, 8));
    }
    std::uint8_t bits = initialised;
    if (v.space == ptx::space::constant) bits |= read_only;
    device_memory.mark(at, v.bytes, bits, 0);
}

int module::state::function_index(std::string_view name) const
{
    if (auto a = text.aliases.find(std::string(name)); a != text.aliases.end()) name = a->second;
    for (std::size_t f = 0; f < text.functions.size(); ++f)
        if (text.functions[f].name == name && text.functions[f].defined) return static_cast<int>(f);
    return -1;
}

std::unique_ptr<program> module::state::prepare(const ptx::function &entry)
{
    auto p = std::make_unique<program>();
    p->entry = &entry;
    p->entry_index = function_index(entry.name);
    p->shown = demangled_name(entry.name);
    p->functions.resize(text.functions.size());
    std::map<int, ptx::body> bodies;
    std::vector<int> work{p->entry_index};
    core::area shared_memory("Kernel " + p->shown + " uses too much shared memory", max_addresses);
    std::uint32_t dynamic_align = 16;
    auto add_shared = [&](const ptx::variable &v) {
        if (v.bytes == 0) {
            dynamic_align = std::max(dynamic_align, v.align);
        } else if (!p->shared_at.count(v.name)) {
            p->shared_at[v.name] = shared_memory.place(v);
        }
    };
    bool calls_pointers = false;
    std::set<std::string> dynamic;
    auto reach = [&](int index) {
        // A launched kernel is not part of the launching one.
        if (index >= 0 && !bodies.count(index) && !text.functions[index].entry)
            work.push_back(index);
    };
    auto visit = [&](int index) {
        auto &b = bodies[index] = ptx::parse_body(text.functions[index]);
        for (const auto &v : b.variables) {
            if (v.space == ptx::space::shared) add_shared(v);
            if (v.space == ptx::space::global || v.space == ptx::space::constant)
                place_inner(v, index);
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
                    calls_pointers |= o.what == ptx::operand::kind::reg;
    };
    bool added_pointers = false;
    while (!work.empty()) {
        int index = work.back();
        work.pop_back();
        if (!bodies.count(index)) visit(index);
        if (calls_pointers && !added_pointers && work.empty()) {
            added_pointers = true;
            for (std::size_t f = 0; f < text.functions.size(); ++f)
                if (text.functions[f].defined && !text.functions[f].entry)
                    reach(static_cast<int>(f));
        }
    }
    const std::uint32_t static_shared = shared_memory.bytes();
    if (static_shared > profile().shared_per_block) refuse_shared(p->shown, static_shared);
    shared_memory.align(dynamic_align);
    p->dynamic_at = shared_memory.bytes();
    p->dynamic = !dynamic.empty();
    for (const auto &name : dynamic) p->shared_at[name] = p->dynamic_at;
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
        if (auto s = p.shared_at.find(name); s != p.shared_at.end())
            return core::symbol{core::symbol::kind::shared, s->second};
        if (auto it = symbols.find(name); it != symbols.end()) return it->second;
        return std::nullopt;
    };
    in.function_index = [&](std::string_view name) { return function_index(name); };
    auto c = std::make_unique<code>();
    core::decode(*c, std::move(body), in);
    c->shown = p.shown;
    c->index = static_cast<std::uint32_t>(index);
    p.functions[index] = std::move(c);
}

code *module::state::function(program &p, int index)
{
    return p.functions[static_cast<std::size_t>(index)].get();
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

// Kernels that stand for copies and fills launched by kernels, for the race detector.
program &module::state::transfer(bool fill, bool words)
{
    static module kernels(
        [] {
            std::string all = ".version 8.0\n.target sm_80\n.address_size 64\n";
            for (const bool of_words : {false, true})
                for (const bool fills : {false, true}) {
                    const std::string type = of_words ? "b32" : "b8";
                    const std::string scale = of_words ? "2" : "0";
                    all += ".visible .entry " + std::string(fills ? "fill" : "copy") + type +
                           "(.param .u64 to, .param .u64 from, .param .u64 n)\n{\n"
                           ".reg .b32 %r<4>; .reg .b64 %d<6>; .reg .pred %p;\n"
                           "mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; mov.u32 %r2, %tid.x;\n"
                           "add.u32 %r1, %r1, %r2; cvt.u64.u32 %d1, %r1; ld.param.u64 %d2, [n];\n"
                           "setp.ge.u64 %p, %d1, %d2; @%p ret; shl.b64 %d1, %d1, " +
                           scale + ";\nld.param.u64 %d3, [to]; add.u64 %d3, %d3, %d1;\n";
                    if (fills)
                        all += "mov.u32 %r3, 0;\n";
                    else
                        all += "ld.param.u64 %d4, [from]; add.u64 %d4, %d4, %d1;\nld.global." +
                               type + " %r3, [%d4];\n";
                    all += "st.global." + type + " [%d3], %r3; ret;\n}\n";
                }
            return all;
        }(),
        0);
    program &p =
        *kernels.state_->find(std::string(fill ? "fill" : "copy") + (words ? "b32" : "b8"));
    p.shown = fill ? "cudaMemsetAsync" : "cudaMemcpyAsync";
    return p;
}

outcome module::state::run(program &p, const launch &how)
{
    core::device_runtime runtime(
        {[this](std::uint64_t at) -> program * {
             const std::uint64_t f = (at - core::code_window) / 16;
             return f < text.functions.size() ? find(text.functions[f].name) : nullptr;
         },
         [this](program &what, const launch &how, core::device_runtime &runtime,
                core::launch_node &self) { return run_grid(what, how, runtime, self); },
         &state::transfer});
    const outcome end = runtime.run(p, how);
    races.end();
    return end;
}

outcome module::state::run_grid(program &p, const launch &how, core::device_runtime &runtime,
                                core::launch_node &self)
{
    auto &device_memory = memory::instance();
    core::grid g;
    core::context &c = g.ctx;
    std::memset(c.specials, 0, sizeof c.specials);
    c.base = device_memory.base();
    c.reserved = device_memory.reserved();
    c.closed = settings().check_memory ? how.closed : std::uint8_t{0};
    c.data = device_memory.data();
    c.shadow = device_memory.shadow();
    g.shared_bytes =
        how.dynamic_shared != 0 ? p.dynamic_at + how.dynamic_shared : p.info.static_shared;
    c.shared_bytes = g.shared_bytes;
    c.params = how.parameters.data();
    c.param_bytes = static_cast<std::uint32_t>(how.parameters.size());
    c.read = &read;
    c.written = &written;
    c.count = settings().count;
    c.check_memory = settings().check_memory;
    c.check_initialised = settings().check_initialised;
    c.races = settings().check_races ? &races : nullptr;
    c.g = &g;
    g.runtime = &runtime;
    g.self = &self;
    g.running = &p;
    g.how = &how;
    g.function = [&](int index) { return function(p, index); };
    g.function_count = p.functions.size();
    for (const auto &f : p.functions) g.tallies.push_back(f ? &f->own : nullptr);
    g.team = &team;
    g.budget = runtime.steps_left();
    g.blocks = std::uint64_t{how.grid.x} * how.grid.y * how.grid.z;
    g.shuffled = settings().random_schedule;
    g.random.seed(settings().seed);
    c.lanes_descend = g.shuffled;
    c.weak = g.shuffled && c.races != nullptr ? &weak : nullptr;
    if (how.parameters.size() < p.info.parameter_bytes)
        return {1, p.shown + ": the launch gives fewer bytes of parameters than the kernel takes"};
    std::uint32_t threads = how.block.x * how.block.y * how.block.z,
                  padded = (threads + 31) / 32 * 32;
    for (auto &ids : g.thread_ids) ids.resize(padded);
    for (std::uint32_t t = 0; t < padded; ++t) {
        g.thread_ids[0][t] = t % how.block.x;
        g.thread_ids[1][t] = t / how.block.x % how.block.y;
        g.thread_ids[2][t] = t / how.block.x / how.block.y;
    }
    const std::uint32_t specials[] = {how.block.x, how.block.y, how.block.z, 0, 0,          0,
                                      how.grid.x,  how.grid.y,  how.grid.z,  0, padded / 32};
    std::copy(std::begin(specials), std::end(specials), c.specials);
    c.specials[12] = static_cast<std::uint32_t>(multiprocessors()); // special::nsmid
    c.specials[13] = how.dynamic_shared;
    c.specials[14] = g.shared_bytes;
    c.specials[15] = static_cast<std::uint32_t>(how.grid_workspace >> 32);
    c.specials[16] = static_cast<std::uint32_t>(how.grid_workspace);
    g.spare = std::move(spare);
    races.begin(self, g);
    weak.begin();
    // Determined before the run, because host threads that use managed memory beside the kernel
    // may end with it.
    const bool beside_host = c.count && device_memory.has_managed() && host().has_other_threads();
    core::run_blocks(g);
    if (c.guard != nullptr) team.stop_watching(g);
    races.end(self);
    runtime.count_steps(g.steps);
    spare = std::move(g.spare);
    if (spare.size() > 4) spare.resize(4); // enough to start the next grid without allocating
    if (c.count) add_counts(p, g, self.parent != nullptr, beside_host, read, written);
    read.clear();
    written.clear();
    return g.result;
}

namespace {

bool is_multiplication(const ptx::statement &s)
{
    bool real = s.op.back() == "f32" || s.op.back() == "f64";
    return real && (s.op[0] == "mul" || s.op[0] == "fma" || s.op[0] == "mad");
}

// True for operations in double precision: consumer GPUs have 1/64 of the units for them.
bool is_in_double(const ptx::statement &s)
{
    static const char *const all[] = {"add", "sub", "mul",  "fma",  "mad",
                                      "div", "rcp", "sqrt", "rsqrt"};
    return s.op.back() == "f64" &&
           std::find(std::begin(all), std::end(all), s.op[0]) != std::end(all);
}

bool is_division(const ptx::statement &s)
{
    return s.op[0] == "div" && (s.op.back() == "f32" || s.op.back() == "f64");
}

bool is_exact_division(const ptx::statement &s)
{
    bool real = s.op.back() == "f32" || s.op.back() == "f64";
    bool exact = s.op.size() > 1 &&
                 (s.op[1] == "rn" || s.op[1] == "rz" || s.op[1] == "rm" || s.op[1] == "rp");
    return real && exact && (s.op[0] == "div" || s.op[0] == "rcp");
}

bool is_exact_root(const ptx::statement &s)
{
    return s.op[0] == "sqrt" && s.op.size() > 1 && s.op[1] != "approx";
}

worst_request as_counted(const core::site_worst &from)
{
    worst_request w;
    w.shared = from.shared;
    w.kind = from.kind;
    w.bytes = from.bytes;
    w.lanes = from.mask;
    w.cost = from.cost;
    w.ideal = from.ideal;
    w.one_address = !from.elsewhere;
    w.score = from.score;
    for (int l = 0; l < 32; ++l)
        if ((from.mask >> l & 1) != 0)
            w.at.push_back(w.shared ? from.address[l] & (core::shared_window - 1)
                                    : from.address[l]);
    if (!w.shared) w.where = memory::instance().describe(w.at.front(), w.bytes);
    return w;
}

// Moves each memory instruction's worst request to the kernel's counts, and resets it.
void take_worst(code &k, kernel_counts &total)
{
    for (std::size_t s = 0; s < k.own.worst.size(); ++s) {
        core::site_worst &from = k.own.worst[s];
        if (from.score == 0) continue;
        const auto &name = k.places[k.statement_place[from.statement]];
        std::pair place(name.file, name.line);
        // An atomic is always merged, to notice an address that differs from the earlier
        // launches'.
        if (from.kind == access_kind::atomic ||
            !total.has_worse(place, from.shared, from.kind, from.score))
            total.keep_worst(place, as_counted(from));
        from.score = 0;
        from.elsewhere = false;
        k.own.memos[s].mask = 0; // the next launch evaluates its requests anew
    }
}

// Converts counts by basic block and statement into counts by source place, and resets them.
void take_counts(code &k, kernel_counts &total)
{
    for (std::size_t b = 0; b < k.blocks.size(); ++b) {
        if (k.own.runs[b] == 0) continue;
        for (auto s = k.blocks[b].first_statement; s < k.blocks[b].last_statement; ++s) {
            const auto &st = k.body.statements[s];
            site_counts &c = k.own.counted[s];
            std::uint64_t lanes =
                k.own.lanes_run[b] - std::min(k.own.lanes_off[s], k.own.lanes_run[b]);
            c.warp_instructions += k.own.runs[b];
            c.thread_instructions += lanes;
            if (is_multiplication(st)) c.multiplications += lanes;
            if (is_division(st)) c.divisions += lanes;
            if (is_in_double(st)) c.double_operations += lanes;
            if (is_exact_division(st)) c.exact_divisions += lanes;
            if (is_exact_root(st)) c.exact_square_roots += lanes;
        }
    }
    for (std::size_t s = 0; s < k.body.statements.size(); ++s) {
        if (k.own.counted[s].warp_instructions == 0) continue;
        const auto &place = k.places[k.statement_place[s]];
        total.sites[{place.file, place.line}] += k.own.counted[s];
        total.total += k.own.counted[s];
    }
    take_worst(k, total);
    std::fill(k.own.runs.begin(), k.own.runs.end(), 0);
    std::fill(k.own.lanes_run.begin(), k.own.lanes_run.end(), 0);
    std::fill(k.own.lanes_off.begin(), k.own.lanes_off.end(), 0);
    std::fill(k.own.counted.begin(), k.own.counted.end(), site_counts{});
}

} // namespace

// The managed pages that a launch had to wait for. They are on the device afterwards.
static std::uint64_t pages_on_demand(const core::sector_set &touched)
{
    auto &all = memory::instance();
    if (!all.has_managed()) return 0;
    std::uint64_t pages = 0;
    for (auto sector : touched.touched_ranges()) pages += all.bring(all.base() + 32 * sector);
    return pages;
}

// The touched sectors in managed memory, which host code reads and writes as well.
static std::uint64_t managed_sectors(const core::sector_set &touched)
{
    auto &all = memory::instance();
    if (!all.has_managed()) return 0;
    std::uint64_t sectors = 0;
    const allocation *a = nullptr;
    touched.each([&](std::uint64_t sector) {
        const address at = all.base() + 32 * sector;
        if (!a || at < a->start || at - a->start >= a->bytes) a = all.find(at);
        sectors += a && a->kind == memory_kind::managed;
    });
    return sectors;
}

// Sectors moved by each access, counting repeated accesses again.
static std::uint64_t sectors_of(const site_counts &c)
{
    return c.global_load.sectors + c.global_store.sectors + c.global_atomic_sectors;
}

// Adds the traffic of a launch on `device` over links between devices: a peer sends the bytes that
// the launch reads from it, and the launch sends those that it writes. Managed memory lies on the
// host.
static void add_peer_traffic(int device, const core::sector_set &touched, bool written)
{
    if (!settings().track_owning_device) return;
    auto &all = memory::instance();
    transfer_counts &transfers = counters::instance().transfers;
    const allocation *a = nullptr; // of the previous sector, usually of this one too
    touched.each([&](std::uint64_t sector) {
        const address at = all.base() + 32 * sector;
        if ((*all.shadow_at(at) & 0xf0) == device_bit(device)) return;
        if (!a || at - a->start >= a->bytes) a = all.find(at);
        // The bits cannot distinguish all kinds: a shared pool's memory has none.
        if (!a || a->kind == memory_kind::pinned || a->kind == memory_kind::internal) return;
        if (a->kind == memory_kind::managed)
            transfers.managed += 32;
        else if (a->device != device)
            transfers.sent[static_cast<std::size_t>(written ? device : a->device)] += 32;
    });
}

void module::state::add_counts(program &p, const core::grid &g, bool by_kernel, bool beside_host,
                               const core::sector_set &read, const core::sector_set &written)
{
    const launch &how = *g.how;
    auto &all = counters::instance().kernels;
    auto it =
        std::find_if(all.begin(), all.end(), [&](const auto &k) { return k.kernel == p.shown; });
    if (it == all.end()) {
        it = all.insert(all.end(), kernel_counts{});
        it->kernel = p.shown;
    }
    it->launches += 1;
    it->launches_by_kernels += by_kernel;
    if (!by_kernel) {
        it->parameter_bytes += std::max(how.parameters.size(), usual_parameters) - usual_parameters;
        it->all_parameter_bytes += how.parameters.size();
    }
    it->blocks += g.blocks;
    it->busiest_block_instructions += g.busiest;
    it->threads += g.blocks * how.block.x * how.block.y * how.block.z;
    it->sectors_read += read.count();
    it->sectors_written += written.count();
    it->managed_pages += pages_on_demand(read) + pages_on_demand(written);
    add_peer_traffic(how.device, read, false);
    add_peer_traffic(how.device, written, true);
    const std::uint64_t instructions = it->total.warp_instructions,
                        multiplications = it->total.multiplications, moved = sectors_of(it->total);
    for (auto &f : p.functions)
        if (f) take_counts(*f, *it);
    // Beside other host threads a sector may have changed between any two accesses.
    const std::uint64_t shared = managed_sectors(read) + managed_sectors(written);
    it->managed_sectors += shared != 0 && beside_host ? sectors_of(it->total) - moved : shared;
    if (by_kernel) it->instructions_by_kernels += it->total.warp_instructions - instructions;
    it->multiplications_of[static_cast<std::size_t>(how.device)] +=
        it->total.multiplications - multiplications;
}

module::module(std::string_view ptx, int device,
               variables *managed) :state_(std::make_unique<state>())
{
    state_->text = ptx::parse_module(ptx);
    state_->device = device;
    state_->place_variables(managed);
}

module::~module() = default;
module::module(module &&) noexcept = default;

std::vector<std::string> module::kernels() const
{
    std::vector<std::string> names;
    for (const auto &f : state_->text.functions)
        if (f.entry && f.defined) names.push_back(f.name);
    return names;
}

const kernel_info *module::find_kernel(std::string_view mangled) const
{
    const program *p = state_->find(mangled);
    return p == nullptr ? nullptr : &p->info;
}

const module::variable *module::find_variable(std::string_view mangled) const
{
    auto it = state_->variables.find(mangled);
    return it == state_->variables.end() ? nullptr : &it->second;
}

outcome module::run(const kernel_info &kernel, const launch &how)
{
    auto it = state_->programs.find(kernel.name);
    if (it == state_->programs.end())
        throw std::runtime_error("kernel " + kernel.name + " is not of this module");
    return state_->run(*it->second, how);
}

} // namespace simulator
