// Calls the functions of NVML that are there; declarations and constants follow nvml.h.
#include "nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace grading {

namespace {

constexpr int success = 0;
constexpr int clock_sm = 1;              // NVML_CLOCK_SM
constexpr unsigned mig_on = 1;           // NVML_DEVICE_MIG_ENABLE
constexpr std::size_t max_text = 256;    // more than nvml.h's limits for names and versions
constexpr unsigned max_processes = 1024; // of a device
constexpr std::chrono::seconds busy_time = std::chrono::seconds(2);

struct process_info { // nvmlProcessInfo_t of the functions whose names end in _v2 and _v3
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

struct utilization_sample { // nvmlProcessUtilizationSample_t
    unsigned pid;
    unsigned long long microseconds; // since 1970
    unsigned sm, memory, encoder, decoder;
};

// The number of CUDA's device 0, if CUDA_VISIBLE_DEVICES gives it by number. NVML's numbers
// follow the PCI bus; CUDA's surely do only if all devices are of the same model, or if
// CUDA_DEVICE_ORDER is PCI_BUS_ID.
std::optional<unsigned> first_visible(bool same_models)
{
    const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
    const char *order = std::getenv("CUDA_DEVICE_ORDER");
    if (!list || (!same_models && (!order || std::string_view(order) != "PCI_BUS_ID")))
        return std::nullopt;
    unsigned index = 0;
    auto [end, error] = std::from_chars(list, list + std::strlen(list), index);
    if (error != std::errc{} || (*end != 0 && *end != ',')) return std::nullopt;
    return index;
}

} // namespace

template <class F> F nvml::function(const char *name) const
{
    return library_ ? reinterpret_cast<F>(dlsym(library_, name)) : nullptr;
}

nvml::nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL))
{
    const auto start = function<int (*)()>("nvmlInit_v2");
    started_ = start && start() == success;
}

nvml::~nvml()
{
    const auto stop = function<int (*)()>("nvmlShutdown");
    if (started_ && stop) stop();
    if (library_) dlclose(library_);
}

std::vector<nvml::device> nvml::devices() const
{
    std::vector<device> result;
    const auto count = function<int (*)(unsigned *)>("nvmlDeviceGetCount_v2");
    const auto handle = function<int (*)(unsigned, device *)>("nvmlDeviceGetHandleByIndex_v2");
    unsigned devices = 0;
    if (!started_ || !count || !handle || count(&devices) != success) return result;
    for (unsigned i = 0; i < devices; ++i) {
        device d = nullptr;
        result.push_back(handle(i, &d) == success ? d : nullptr); // keeps the indices
    }
    return result;
}

std::string nvml::name_of(device d) const
{
    const auto name = function<int (*)(device, char *, unsigned)>("nvmlDeviceGetName");
    char text[max_text] = {};
    return d && name && name(d, text, sizeof text) == success ? text : "";
}

std::string nvml::driver_version() const
{
    const auto version = function<int (*)(char *, unsigned)>("nvmlSystemGetDriverVersion");
    char text[max_text] = {};
    return started_ && version && version(text, sizeof text) == success ? text : "";
}

nvml::device nvml::find(const std::string &cuda_name) const
{
    const std::string whole = cuda_name.substr(0, cuda_name.find(" MIG "));
    const std::vector<device> all = devices();
    const bool same_models =
        std::ranges::all_of(all, [&](device d) { return name_of(d) == name_of(all[0]); });
    const std::optional<unsigned> visible =
        all.size() > 1 ? first_visible(same_models) : std::nullopt;
    device found = nullptr;
    for (unsigned i = 0; i < all.size(); ++i) {
        if ((visible && *visible != i) || name_of(all[i]) != whole) continue;
        if (found) return nullptr; // ambiguous: both have the name
        found = all[i];
    }
    return found;
}

bool nvml::sm_clock(device d, unsigned &mhz) const
{
    const auto clock = function<int (*)(device, int, unsigned *)>("nvmlDeviceGetClockInfo");
    return d && clock && clock(d, clock_sm, &mhz) == success;
}

std::uint64_t nvml::clock_event_reasons(device d) const
{
    using reasons_of = int (*)(device, unsigned long long *);
    auto reasons = function<reasons_of>("nvmlDeviceGetCurrentClocksEventReasons");
    if (!reasons) reasons = function<reasons_of>("nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned long long why = 0;
    return d && reasons && reasons(d, &why) == success ? why : 0;
}

bool nvml::sliced(device d) const
{
    const auto mode = function<int (*)(device, unsigned *, unsigned *)>("nvmlDeviceGetMigMode");
    unsigned current = 0, pending = 0;
    return d && mode && mode(d, &current, &pending) == success && current == mig_on;
}

std::vector<unsigned> nvml::listed(const char *name, device d) const
{
    using list = int (*)(device, unsigned *, process_info *);
    auto processes = function<list>((std::string(name) + "_v3").c_str());
    if (!processes) processes = function<list>((std::string(name) + "_v2").c_str());
    std::vector<process_info> all(max_processes);
    unsigned count = max_processes;
    std::vector<unsigned> pids;
    if (!d || !processes || processes(d, &count, all.data()) != success) return pids;
    for (unsigned i = 0; i < count && i < max_processes; ++i) pids.push_back(all[i].pid);
    return pids;
}

nvml::processes nvml::processes_on(device d) const
{
    return {listed("nvmlDeviceGetComputeRunningProcesses", d),
            listed("nvmlDeviceGetGraphicsRunningProcesses", d),
            listed("nvmlDeviceGetMPSComputeRunningProcesses", d)};
}

unsigned nvml::busy_percent(device d, unsigned pid) const
{
    using utilization = int (*)(device, utilization_sample *, unsigned *, unsigned long long);
    const auto utilized = function<utilization>("nvmlDeviceGetProcessUtilization");
    if (!d || !utilized) return 0;
    const auto since = std::chrono::system_clock::now().time_since_epoch() - busy_time;
    std::vector<utilization_sample> samples(max_processes);
    unsigned count = max_processes;
    const auto from = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
    if (utilized(d, samples.data(), &count, static_cast<unsigned long long>(from)) != success)
        return 0;
    unsigned sum = 0, of_process = 0;
    for (unsigned i = 0; i < count && i < max_processes; ++i)
        if (samples[i].pid == pid) {
            sum += samples[i].sm;
            ++of_process;
        }
    return of_process ? sum / of_process : 0;
}

std::string nvml::program_of(unsigned pid) const
{
    const auto name = function<int (*)(unsigned, char *, unsigned)>("nvmlSystemGetProcessName");
    char text[max_text] = {};
    return started_ && name && name(pid, text, sizeof text) == success ? text : "";
}

} // namespace grading
