// Places the variables of a module in device memory, and fills in their initial values.
#include "module_state.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace simulator {
namespace {

void check_constants(std::uint64_t bytes)
{
    const std::uint64_t limit = profile().constant_bytes;
    if (bytes <= limit) return;
    throw ptx::refused(
        "The file's __constant__ variables take " + std::to_string(bytes) + " bytes, and at most " +
        std::to_string(limit) + " are allowed: " + std::to_string(bytes - limit) +
        " too many. nvcc builds no such file. Make the arrays smaller, or __device__ "
        "variables");
}

[[noreturn]] void fail(int line, const std::string &what)
{
    throw std::runtime_error("PTX line " + std::to_string(line) + ": " + what);
}

} // namespace

void module::state::place(const ptx::variable &v, variable at)
{
    const auto kind =
        v.space == ptx::space::constant ? core::symbol::kind::constant : core::symbol::kind::device;
    variables[v.name] = at;
    symbols[v.name] = {kind, at.start};
}

module::variable module::state::allocate(const ptx::variable &v, const std::string &label)
{
    const auto kind = v.space == ptx::space::constant ? memory_kind::constant
                      : v.managed                     ? memory_kind::managed
                                                      : memory_kind::variable;
    const auto at = memory::instance().allocate(v.bytes, kind, device);
    if (!at) fail(v.text_line, "no device memory left for " + v.name);
    memory::instance().label(*at, v.bytes, label);
    place(v, {*at, v.bytes});
    return {*at, v.bytes};
}

void module::state::place_variables(module::variables *managed)
{
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
        if (v.external)
            continue; // defined in another module; a function that uses it cannot be decoded
        if (managed && v.managed && managed->count(v.name)) {
            place(v, managed->at(v.name));
            continue;
        }
        const variable at = allocate(v, demangled_name(v.name));
        if (managed && v.managed) (*managed)[v.name] = at;
        filled.push_back(&v);
    }
    for (const auto *v : filled) fill(*v, variables[v->name].start);
}

void module::state::place_function_variable(const ptx::variable &v, int function)
{
    const auto [known, fresh] = function_of_variable.try_emplace(v.name, function);
    if (!fresh && known->second == function) return;
    if (symbols.count(v.name) != 0)
        fail(v.text_line, "the simulator does not offer two variables of the name " + v.name);
    fill(v, allocate(v, v.name).start);
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

} // namespace simulator
