// Chooses where a grade runs, and its seed.
#include "backend.hpp"

#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>

namespace cli {

namespace {

// The device files of NVIDIA's driver on Linux, of WSL 2, and of Jetson's integrated GPUs.
bool gpu_device_present()
{
    for (const char *path : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"})
        if (access(path, F_OK) == 0) return true;
    return false;
}

// Runs a trial kernel; empty: a GPU can be used.
std::string reason_no_gpu(const toolchain &t, const lab &any, progress_line &progress)
{
    if (!gpu_device_present()) return "no NVIDIA device is present";
    const std::string worker = t.program(any, "naive", "gpu");
    build_targets(t, {worker}, progress);
    exit_result e = run_program({worker, "--probe"}, std::chrono::seconds(60));
    if (e.ok()) return {};
    std::string said = without_line_ends(sanitized(e.text, 500));
    return said.empty() ? "a trial kernel " + e.words() : said;
}

} // namespace

std::string choose_backend(const toolchain &t, const lab &any, grade_options &options,
                           progress_line &progress)
{
    options.seed = choose_seed(options.seed);
    if (options.backend == "sim") {
        if (options.require_gpu)
            throw usage_error("--require-gpu and --backend sim exclude each other");
        return {};
    }
    const std::string reason = reason_no_gpu(t, any, progress);
    if (reason.empty()) {
        if (options.backend == "auto") options.backend = "both";
        return {};
    }
    std::string words =
        fmt::format("no GPU can be used: {}.\n  what to do: ./workbook doctor says what is "
                    "missing; --backend sim grades in the simulator",
                    reason);
    if (options.require_gpu) throw machine_error(words);
    if (options.backend != "auto") throw no_device_error(words);
    options.backend = "sim";
    return reason;
}

void choose_backend_early(const toolchain &t, const lab &any, grade_options &options,
                          progress_line &progress)
{
    if (options.backend != "auto" || options.require_gpu || !gpu_device_present()) {
        choose_backend(t, any, options, progress);
        return;
    }
    options.seed = choose_seed(options.seed);
    options.backend = "both";
}

std::string choose_seed(const std::string &wanted, const char *option)
{
    if (wanted.empty()) {
        std::uint64_t seed = 0;
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
            throw machine_error("the system gives no random numbers");
        return fmt::format("{:016x}", seed);
    }
    std::string digits = wanted.starts_with("0x") ? wanted.substr(2) : wanted;
    bool right = !digits.empty() && digits.size() <= 16 &&
                 std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c); });
    if (!right)
        throw usage_error(fmt::format(
            "{} {}: give 1 to 16 hexadecimal digits, as a result holds them", option, wanted));
    return digits;
}

} // namespace cli
