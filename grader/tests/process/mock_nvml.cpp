// A stand-in for libnvidia-ml.so.1: one device, as the text file named by MOCK_NVML describes it at
// the moment. Without that variable it refuses to start, like NVML without a driver. Lines of the
// file, of which any may be missing or repeated:
//   name NAME           mig                    compute PID   mps PID
//   graphics PID        busy PID PERCENT       program PID PATH
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int success = 0, not_there = 6;

struct line {
    std::string word, rest;
    unsigned pid;
};

std::vector<line> lines_of(const std::string &word)
{
    std::vector<line> result;
    std::ifstream file(std::getenv("MOCK_NVML"));
    for (std::string text; std::getline(file, text);) {
        std::istringstream in(text);
        line l;
        in >> l.word >> std::ws;
        std::getline(in, l.rest);
        l.pid = unsigned(std::strtoul(l.rest.c_str(), nullptr, 10));
        if (l.word == word) result.push_back(l);
    }
    return result;
}

// The text after the identifier in a line about a process.
std::string about(const std::string &word, unsigned pid)
{
    for (const line &l : lines_of(word))
        if (l.pid == pid) return l.rest.substr(l.rest.find(' ') + 1);
    return {};
}

struct process_info {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

int list(const char *word, unsigned *count, process_info *to)
{
    const std::vector<line> all = lines_of(word);
    for (std::size_t i = 0; i < all.size() && i < *count; ++i) to[i] = {all[i].pid, 0, 0, 0};
    *count = unsigned(all.size());
    return success;
}

int copy(const std::string &text, char *to, unsigned room)
{
    std::snprintf(to, room, "%s", text.c_str());
    return success;
}

} // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("MOCK_NVML") ? success : not_there; }
int nvmlShutdown() { return success; }
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 1;
    return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void **device)
{
    static int one;
    *device = &one;
    return success;
}
int nvmlDeviceGetName(void *, char *to, unsigned room)
{
    const std::vector<line> names = lines_of("name");
    return names.empty() ? not_there : copy(names[0].rest, to, room);
}
int nvmlDeviceGetMigMode(void *, unsigned *current, unsigned *pending)
{
    *current = *pending = !lines_of("mig").empty();
    return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, process_info *to)
{
    return list("compute", count, to);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *, unsigned *count, process_info *to)
{
    return list("graphics", count, to);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *, unsigned *count, process_info *to)
{
    return list("mps", count, to);
}

struct utilization_sample {
    unsigned pid;
    unsigned long long microseconds;
    unsigned sm, memory, encoder, decoder;
};
int nvmlDeviceGetProcessUtilization(void *, utilization_sample *to, unsigned *count,
                                    unsigned long long)
{
    const std::vector<line> all = lines_of("busy");
    for (std::size_t i = 0; i < all.size() && i < *count; ++i)
        to[i] = {all[i].pid, 0, unsigned(std::atoi(about("busy", all[i].pid).c_str())), 0, 0, 0};
    *count = unsigned(all.size());
    return success;
}
int nvmlSystemGetProcessName(unsigned pid, char *to, unsigned room)
{
    const std::string path = about("program", pid);
    return path.empty() ? not_there : copy(path, to, room);
}

} // extern "C"
