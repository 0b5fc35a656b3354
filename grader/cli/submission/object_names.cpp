// Checks the names that an object defines and uses against those a submission may not touch.
#include "build_step.hpp"

#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>
#include <string_view>

namespace cli {

std::string demangled_symbol(const std::string &symbol)
{
    if (!symbol.starts_with("_Z")) return symbol;
    child c;
    c.arguments = {"c++filt", symbol};
    c.keep = 1000;
    c.wall = std::chrono::seconds(2);
    c.limits = {{RLIMIT_AS, 256 << 20}};
    exit_result e = run(c);
    const std::vector<std::string> said = lines(e.text);
    return e.ok() && !e.cut && !said.empty() ? said[0] : symbol;
}

namespace {

bool is_cuda_name(const std::string &s)
{
    auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return (s.size() > 4 && s.starts_with("cuda") && upper(s[4])) ||
           (s.size() > 2 && s.starts_with("cu") && upper(s[2]));
}

// True for names of the C and C++ libraries that no submission needs to replace.
bool is_library_name(const std::string &s)
{
    static const std::set<std::string> names = {// memory
                                                "malloc", "calloc", "realloc", "free", "memcpy",
                                                "memset", "memcmp", "memmove", "mmap", "munmap",
                                                // the process and its code
                                                "exit", "_exit", "abort", "dlopen", "dlsym",
                                                "_start", "_init", "_fini", "__libc_start_main",
                                                // files, sockets and clocks
                                                "open", "close", "read", "write", "recv", "send",
                                                "recvmsg", "sendmsg", "clock", "clock_gettime",
                                                "gettimeofday", "time"};
    static const char *const operators[] = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZNSt6chrono"};
    return names.contains(s) ||
           std::ranges::any_of(operators, [&](const char *start) { return s.starts_with(start); });
}

std::string wrong_definition(const std::string &symbol)
{
    if (symbol == "main") return "defines main; the grader has its own and calls your functions";
    if (is_cuda_name(symbol))
        return fmt::format("defines {}, which is a name of the CUDA API", symbol);
    if (symbol.starts_with("simulator_") || symbol.starts_with("yardstick_"))
        return fmt::format("defines {}, which is a name of the grader", symbol);
    if (is_library_name(symbol))
        return fmt::format("replaces {}, which belongs to the system", demangled_symbol(symbol));
    return {};
}

// Reduces the C library's aliases of a function to one name: "__open64_2@GLIBC_2.7" is open.
std::string plain_c_name(std::string symbol)
{
    symbol.erase(std::min(symbol.size(), symbol.find('@')));
    symbol.erase(0, std::min(symbol.size(), symbol.find_first_not_of('_')));
    if (symbol.starts_with("libc_")) symbol.erase(0, 5);
    for (const char *end : {"_chk", "_2", "64"})
        if (symbol.ends_with(end)) symbol.resize(symbol.size() - std::strlen(end));
    return symbol;
}

// True for functions by which host code could tamper with the process that counts, or with others.
// No header of the C++ library or of CUDA puts them into an object, except NVTX: see flags_for.
bool acts_on_processes(const std::string &symbol)
{
    static const std::set<std::string> names = {
        // memory
        "mmap", "munmap", "mremap", "mprotect", "pkey_mprotect", "madvise", "posix_madvise",
        "process_madvise", "remap_file_pages", "mincore", "memfd_create", "memfd_secret",
        "shm_open", "shmget", "shmat", "process_vm_readv", "process_vm_writev",
        // processes
        "fork", "vfork", "Fork", "clone", "clone2", "clone3", "daemon", "system", "popen", "execl",
        "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe", "fexecve",
        "posix_spawn", "posix_spawnp", "ptrace", "prctl", "arch_prctl", "personality", "kill",
        "killpg", "tgkill", "sigqueue", "unshare", "setns", "pidfd_open", "pidfd_getfd",
        "pidfd_send_signal",
        // loaded code and its addresses
        "dlopen", "dlopen_mode", "dlmopen", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo",
        "dl_iterate_phdr", "dl_find_object", "r_debug", "getauxval", "DYNAMIC", "executable_start",
        "ehdr_start",
        // files and descriptors
        "dup", "dup2", "dup3", "fcntl", "ioctl", "open", "openat", "creat", "close", "close_range",
        "closefrom", "fdopen", "read", "pread", "readv", "preadv", "preadv2", "write", "pwrite",
        "writev", "pwritev", "pwritev2", "sendfile", "splice", "vmsplice", "tee", "copy_file_range",
        "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "recv",
        "recvfrom", "recvmsg", "recvmmsg", "send", "sendto", "sendmsg", "sendmmsg", "dprintf",
        "vdprintf",
        // faults
        "signal", "ssignal", "bsd_signal", "sysv_signal", "sigaction", "sigset", "sigvec"};
    return names.count(plain_c_name(symbol)) || symbol.starts_with("_dl_") ||
           symbol.find("9__gnu_cxx13stdio_filebuf") != symbol.npos ||
           symbol.find("St12__basic_fileIcE8sys_open") != symbol.npos;
}

std::string wrong_use(const std::string &symbol, bool system_calls)
{
    // Mangled names spell a namespace with its length: "_ZN7grading4passEv".
    for (const char *part : {"7grading", "7doctest", "9simulator", "simulator_", "yardstick_"})
        if (symbol.find(part) != symbol.npos)
            return fmt::format("uses {}, which belongs to the grader", demangled_symbol(symbol));
    if (symbol.starts_with("cudaGetDriverEntryPoint") || symbol == "cudaGetExportTable")
        return fmt::format("uses {}, which leads past the CUDA runtime to the driver, where no "
                           "clock of the grader's sees what is done",
                           symbol);
    if (!system_calls && acts_on_processes(symbol))
        return fmt::format("uses {}, by which a program acts on its process or on others; no lab "
                           "needs that",
                           demangled_symbol(symbol));
    return {};
}

} // namespace

std::vector<std::string> nm(std::vector<std::string> options, const std::string &object)
{
#if defined __aarch64__
    constexpr const char *target = "--target=elf64-littleaarch64";
#else
    constexpr const char *target = "--target=elf64-x86-64";
#endif
    options.insert(options.begin(), {"nm", target});
    options.push_back(object);
    return options;
}

bool is_system_call(std::string_view line)
{
    static const std::set<std::string, std::less<>> names = {"syscall", "sysenter", "int", "svc"};
    const std::size_t colon = line.find(":\t");
    if (colon == line.npos || line.find_first_not_of(" 0123456789abcdef") != colon) return false;
    line.remove_prefix(colon + 2);
    line = line.substr(0, line.find_first_of("<#"));
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != line.npos;) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        if (names.contains(line.substr(at, end - at))) return true;
        at = end;
    }
    return false;
}

std::string lint_symbols(const std::string &nm_output, const std::string &file, bool system_calls)
{
    for (const std::string &line : lines(nm_output)) {
        std::istringstream words(line);
        std::vector<std::string> parts;
        for (std::string word; words >> word;) parts.push_back(word);
        if (parts.size() < 2) continue;
        const std::string &symbol = parts.back(), &type = parts[parts.size() - 2];
        bool undefined = type == "U" || type == "w" || type == "v";
        // Weak definitions are inline functions of headers, such as those of std::chrono.
        bool header = type == "W" && is_library_name(symbol);
        std::string wrong = undefined ? wrong_use(symbol, system_calls)
                            : header  ? std::string()
                                      : wrong_definition(symbol);
        if (!wrong.empty()) return fmt::format("{} {}", file, sanitized(wrong, 1000));
    }
    return {};
}

} // namespace cli
