// Defines a loaded module: its variables in device memory, and its kernels once they are decoded.
#pragma once

#include "decode.hpp"
#include "device_runtime.hpp"
#include "races.hpp"
#include "weak_memory.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simulator {

// A limit in bytes of shared or constant memory while variables are placed: no sum overflows.
inline constexpr std::uint64_t max_addresses = std::uint64_t{1} << 31;

struct module::state {
    ptx::module_text text;
    int device = 0;
    module::variables variables;
    // .global and .const variables, and functions.
    std::map<std::string, core::symbol, std::less<>> symbols;
    std::map<std::string, const ptx::variable *, std::less<>> shared; // at module scope
    std::map<std::string, std::unique_ptr<core::program>, std::less<>> programs;
    core::sector_set read, written;
    core::race_checker races;
    core::weak_memory weak{races};
    std::vector<std::unique_ptr<core::thread_block>> spare;
    std::map<std::string, int> function_of_variable; // static variables: index of the function

    // module_variables.cpp
    void place_variables(module::variables *managed);
    void place_function_variable(const ptx::variable &, int function);
    variable allocate(const ptx::variable &, const std::string &label);
    void place(const ptx::variable &, variable at);
    void fill(const ptx::variable &, address at);
    std::uint64_t value_of(const ptx::initial_value &, const ptx::variable &);

    // programs.cpp
    core::program *find(std::string_view name); // null: no such kernel
    std::unique_ptr<core::program> prepare(const ptx::function &);
    void decode_function(core::program &, int index, ptx::body);
    int function_index(std::string_view name) const; // of a defined function; -1: none

    // module.cpp
    outcome run(core::program &, const launch &);
    outcome run_grid(core::program &, const launch &, core::device_runtime &, core::launch_node &);
    static core::program &transfer(bool fill, bool words);
};

} // namespace simulator
