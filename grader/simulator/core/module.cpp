// Loads a module, and runs its kernels.
#include "module_state.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/work_meter.hpp"
#include "special_registers.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace simulator {

using core::program;
using core::special;

// Units of work (machine/work_meter.hpp) to start a grid: kernels that launch themselves for ever
// end.
constexpr std::uint64_t work_of_grid = 20'000;

// Kernels that make the accesses of cudaMemcpyAsync and cudaMemsetAsync calls of the device
// runtime, for the race detector.
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
    p.display_name = fill ? "cudaMemsetAsync" : "cudaMemcpyAsync";
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
    c.base = device_memory.base();
    c.reserved = device_memory.reserved();
    c.closed = settings().check_memory ? how.closed : std::uint8_t{0};
    c.data = device_memory.data();
    c.shadow = device_memory.shadow();
    g.shared_bytes =
        how.dynamic_shared != 0 ? p.dynamic_offset + how.dynamic_shared : p.info.static_shared;
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
    g.kernel = &p;
    g.config = &how;
    g.function = [&p](int index) { return p.functions[static_cast<std::size_t>(index)].get(); };
    g.function_count = p.functions.size();
    for (const auto &f : p.functions) g.counts.push_back(f ? &f->counts : nullptr);
    work_meter &meter = work_meter::instance();
    g.max_work = meter.left();
    c.work = work_of_grid;
    g.blocks = std::uint64_t{how.grid.x} * how.grid.y * how.grid.z;
    g.shuffled = settings().random_schedule;
    g.random.seed(settings().seed);
    c.lanes_descend = g.shuffled;
    c.weak = g.shuffled && c.races != nullptr ? &weak : nullptr;
    if (how.parameters.size() < p.info.parameter_bytes)
        return {cudaErrorInvalidValue,
                p.display_name +
                    ": the launch gives fewer bytes of parameters than the kernel takes"};
    std::uint32_t threads = how.block.x * how.block.y * how.block.z,
                  padded = (threads + 31) / 32 * 32;
    for (auto &ids : g.thread_ids) ids.resize(padded);
    for (std::uint32_t t = 0; t < padded; ++t) {
        g.thread_ids[0][t] = t % how.block.x;
        g.thread_ids[1][t] = t / how.block.x % how.block.y;
        g.thread_ids[2][t] = t / how.block.x / how.block.y;
    }
    set_special(c, special::ntid_x, how.block);
    set_special(c, special::nctaid_x, how.grid);
    set_special(c, special::nwarpid, padded / 32);
    set_special(c, special::nsmid, static_cast<std::uint32_t>(multiprocessors()));
    set_special(c, special::dynamic_smem_size, how.dynamic_shared);
    set_special(c, special::total_smem_size, g.shared_bytes);
    set_special(c, special::grid_workspace_high,
                static_cast<std::uint32_t>(how.grid_workspace >> 32));
    set_special(c, special::grid_workspace_low, static_cast<std::uint32_t>(how.grid_workspace));
    g.spare = std::move(spare);
    races.begin(self, g);
    weak.begin();
    // Determined before the run, because host threads that use managed memory beside the kernel
    // may end with it.
    const bool beside_host = c.count && device_memory.has_managed() && host().has_other_threads();
    core::run_blocks(g);
    races.end(self);
    meter.add(c.work);
    spare = std::move(g.spare);
    if (spare.size() > 4) spare.resize(4); // enough to start the next grid without allocating
    if (c.count) core::add_counts(p, g, self.parent != nullptr, beside_host, read, written);
    read.clear();
    written.clear();
    return g.result;
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
