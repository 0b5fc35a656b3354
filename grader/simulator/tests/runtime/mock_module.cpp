// A mock machine without execution: kernels record their launch or fail, by name.
#include "mock_module.hpp"

#include <map>
#include <stdexcept>

namespace simulator {

struct module::state {
    std::vector<kernel_info> kernels;
    module::variables variables;
    bool shares = false; // its managed variable belongs to another module
};

module::module(std::string_view ptx, int device,
               variables *managed) :state_(std::make_unique<state>())
{
    if (ptx.find("not understood") != ptx.npos)
        throw std::runtime_error("PTX: line 3: not understood");
    const std::vector<parameter> two = {{0, 8}, {8, 4}};
    state_->kernels = {
        {"plain", two, 12, 1024, 0, 0}, {"small", {}, 0, 0, 0, 64}, {"faulty", {}, 0, 0, 0, 0}};
    memory &m = memory::instance();
    state_->variables["table"] = {*m.allocate(16, memory_kind::constant, device), 16};
    variables own;
    auto &shared = managed ? *managed : own;
    state_->shares = managed != nullptr;
    if (!shared.count("counter"))
        shared["counter"] = {*m.allocate(4, memory_kind::managed, device), 4};
    state_->variables["counter"] = shared["counter"];
}

module::~module()
{
    if (!state_) return;
    for (auto &[name, v] : state_->variables)
        if (name != "counter" || !state_->shares) memory::instance().release(v.start);
}

module::module(module &&) noexcept = default;

const kernel_info *module::find_kernel(std::string_view mangled) const
{
    for (const auto &k : state_->kernels)
        if (k.name == mangled) return &k;
    return nullptr;
}

const module::variable *module::find_variable(std::string_view mangled) const
{
    auto it = state_->variables.find(mangled);
    return it == state_->variables.end() ? nullptr : &it->second;
}

outcome module::run(const kernel_info &kernel, const launch &how)
{
    auto &log = tests::launches();
    log.push_back({kernel.name,
                   how.grid,
                   how.block,
                   how.dynamic_shared,
                   {how.parameters.begin(), how.parameters.end()},
                   how.device});
    if (kernel.name == "faulty") return {700, "faulty: out of bounds"};
    return {};
}

namespace tests {

std::vector<recorded_launch> &launches()
{
    static std::vector<recorded_launch> all;
    return all;
}

} // namespace tests

} // namespace simulator
