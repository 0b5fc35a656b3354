// Chooses where a grade runs, and its seed.
#include "backend.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace cli {

namespace {

std::string run_probe(const toolchain &t, const lab &any)
{
    child c;
    c.arguments = {t.program(any, "naive", "gpu"), "--probe"};
    c.wall = std::chrono::seconds(60);
    exit_result e = run(c);
    if (e.ok()) return {};
    std::string said = sanitized(e.text, 500);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return said.empty() ? "a trial kernel " + e.words() : said;
}

std::string reason_no_gpu(const toolchain &t, const lab &any, progress_line &progress)
{
    if (!gpu_device_present()) return "no NVIDIA device is present";
    build_targets(t, {t.program(any, "naive", "gpu")}, progress);
    return run_probe(t, any);
}

} // namespace

bool gpu_device_present()
{
    for (const char *path : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"})
        if (access(path, F_OK) == 0) return true;
    return false;
}

backend_choice choose_backend(const toolchain &t, const lab &any, const std::string &wanted,
                              bool require_gpu, progress_line &progress)
{
    if (wanted == "sim") {
        if (require_gpu) throw usage_error("--require-gpu and --backend sim exclude each other");
        return {"sim", "asked for"};
    }
    std::string reason = reason_no_gpu(t, any, progress);
    if (reason.empty()) return {"gpu", "a GPU is here"};
    std::string words =
        fmt::format("no GPU can be used: {}.\n  what to do: ./workbook doctor says what is "
                    "missing; --backend sim grades in the simulator",
                    reason);
    if (require_gpu) throw machine_error(words);
    if (wanted == "gpu") throw no_device_error(words);
    return {"sim", reason};
}

std::string choose_seed(const std::string &wanted)
{
    if (wanted.empty()) {
        std::uint64_t seed = 0;
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
            throw machine_error("the system gives no random numbers");
        return fmt::format("{:016x}", seed);
    }
    std::string digits = wanted.rfind("0x", 0) == 0 ? wanted.substr(2) : wanted;
    bool right =
        !digits.empty() && digits.size() <= 16 &&
        std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); });
    if (!right)
        throw usage_error(fmt::format(
            "--seed {}: give 1 to 16 hexadecimal digits, as a report prints them", wanted));
    return digits;
}

} // namespace cli
