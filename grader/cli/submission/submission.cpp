// Builds workers from a submission's file: runs the steps in order and caches their results.
#include "submission.hpp"

#include "build_step.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/sha256.hpp"
#include "object_cache.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace cli {

namespace fs = std::filesystem;
using grading::verdict;

namespace {

// The bytes of a submission, read through one descriptor so that what was checked is what is
// compiled.
std::string read_submission(const std::string &path, const std::string &shown,
                            std::size_t max_bytes)
{
    auto refuse = [&](const std::string &why) -> refusal {
        return {verdict::SUBMISSION_INVALID, fmt::format("{} {}", shown, why),
                "hand in one ordinary .cu file"};
    };
    // A missing file or an impossible name is the student's mistake; other errors come from the
    // file's permissions on this machine, or from the machine itself.
    auto unreadable = [&](int error) {
        if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG)
            throw refuse(fmt::format("cannot be read: {}", std::strerror(error)));
        throw machine_error(fmt::format("{} cannot be read: {}.\n  what to do: {}", shown,
                                        std::strerror(error),
                                        error == EACCES ? "get the right to read it (ls -l says "
                                                          "whose it is), then run this again"
                                                        : "./workbook doctor, then run this "
                                                          "again"));
    };
    struct stat s {};
    if (lstat(path.c_str(), &s) != 0) unreadable(errno);
    if (S_ISLNK(s.st_mode)) throw refuse("is a symbolic link");
    if (S_ISDIR(s.st_mode)) throw refuse("is a folder");
    if (!S_ISREG(s.st_mode)) throw refuse("is not a regular file");
    const grading::owned_fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) unreadable(errno);
    std::string text(max_bytes + 1, '\0');
    std::size_t size = 0;
    bool regular = fstat(fd.get(), &s) == 0 && S_ISREG(s.st_mode);
    ssize_t got = 1;
    while (regular && size <= max_bytes && got != 0) {
        got = read(fd.get(), text.data() + size, text.size() - size);
        if (got < 0 && errno != EINTR) break;
        size += std::size_t(std::max<ssize_t>(got, 0));
    }
    if (got < 0) unreadable(errno);
    if (!regular) throw refuse("is not a regular file");
    if (size > max_bytes) throw refuse(fmt::format("is larger than {} KiB", max_bytes >> 10));
    text.resize(size);
    return text;
}

// Returns the cache key of the object: equal keys mean equal objects.
std::string key_of(const job &j)
{
    const toolchain &tools = j.tools;
    const lab &l = *j.request.of;
    std::ostringstream k;
    k << "3 " << l.system_calls << "\n"
      << j.tree_name << "\n"
      << compiler_key(tools, flags_for(tools, l, j.request.backends));
    for (const std::string &headers : l.forbidden) k << "not " << headers << "\n";
    std::vector<std::string> read = tools.headers(l);
    read.insert(read.end(), {tools.compile_script, l.keep});
    for (const std::string &path : read) k << "--- " << path << "\n" << read_text(path);
    k << "--- submission\n" << j.text;
    return k.str();
}

// Returns the cache folder with object.o and the compiler's warnings, compiling if necessary.
std::string object_for(const job &j, built_submission &result)
{
    object_cache objects(j.tools.build_root + "/submissions/" + j.request.of->name + "/objects");
    const std::string key = key_of(j);
    std::optional<std::string> at = objects.find(key);
    result.from_cache = at.has_value();
    if (!at)
        at = objects.make(key, [&](const std::string &folder) {
            write_atomically(folder + "/warnings", compile_object(j, folder, result.cpu_seconds));
        });
    result.diagnostics = read_text(*at + "/warnings");
    return *at;
}

// Replaces characters that are special in make rules and shells: "stub (1).cu" -> "stub__1_.cu".
std::string plain_name(std::string name)
{
    for (char &c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.' && c != '+')
            c = '_';
    if (name[0] == '-' || name[0] == '.') name[0] = '_';
    return name;
}

// "labs/02_coalescing/stub.cu" for a file of the project; the bare name for any other.
std::string name_in_tree(const toolchain &t, const fs::path &path)
{
    std::string file = plain_name(path.filename().string());
    fs::path folder = t.shown(fs::weakly_canonical(path.parent_path()).string());
    bool of_project =
        folder.is_relative() && std::all_of(folder.begin(), folder.end(), [](const fs::path &part) {
            return plain_name(part.string()) == part;
        });
    return of_project ? (folder / file).string() : file;
}

job make_job(const toolchain &t, const submission_request &request, const build_limits &limits)
{
    job j{t, request, limits};
    std::string path = fs::absolute(request.path).lexically_normal().string();
    j.shown = t.shown(path);
    if (j.shown[0] == '/') j.shown = request.path;
    j.shown = sanitized(j.shown, 400);
    // Leaves room in a file name for the suffixes that the compiler and we append.
    constexpr std::size_t max_name_bytes = 180;
    if (std::size_t bytes = fs::path(path).filename().string().size(); bytes > max_name_bytes)
        throw refusal{verdict::SUBMISSION_INVALID,
                      fmt::format("{} has a name of {} bytes, and may have one of at most {}",
                                  j.shown, bytes, max_name_bytes),
                      "name the file you edit, e.g. stub.cu"};
    j.text = read_submission(path, j.shown, limits.file_bytes);
    if (fs::path(path).extension() != ".cu")
        throw refusal{verdict::SUBMISSION_INVALID, fmt::format("{} is not a .cu file", j.shown),
                      "name the file you edit, e.g. stub.cu"};
    j.tree_name = name_in_tree(t, path);
    return j;
}

} // namespace

std::vector<std::string> telling_warnings(const std::string &diagnostics)
{
    constexpr std::size_t max_warnings = 3;
    constexpr int first_of_cuda = 20000, used_before_set = 549, no_effect = 174;
    constexpr std::string_view marker = "): warning #", end = "-D: ";
    std::vector<std::string> result;
    const std::vector<std::string> all = lines(diagnostics);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string &line = all[i]; // "stub.cu(12): warning #549-D: words"
        const std::size_t at = line.find(marker);
        const std::size_t open = at == line.npos ? at : line.rfind('(', at);
        if (result.size() == max_warnings || open == line.npos) continue;
        const std::string_view rest = std::string_view(line).substr(at + marker.size());
        const int number = leading_number(rest),
                  where = leading_number(line.substr(open + 1, at - open - 1));
        const std::size_t said = rest.find(end);
        if (number < 0 || where < 0 || said == rest.npos) continue;
        std::string words = fmt::format("line {}: {}", where, rest.substr(said + end.size()));
        if (number == no_effect && i + 1 < all.size() && // the source line is next
            all[i + 1].find("__syncthreads;") != line.npos)
            words += ": a call needs (), __syncthreads()";
        bool new_one = std::ranges::find(result, words) == result.end();
        if ((number >= first_of_cuda || number == used_before_set || number == no_effect) &&
            new_one)
            result.push_back(words);
    }
    return result;
}

std::string compiler_key(const toolchain &t, const std::vector<std::string> &flags)
{
    std::string key = stamp(fs::canonical(t.nvcc)) + t.cxx[0] + "\n";
    for (const std::string &flag : flags) key += flag + "\n";
    return key;
}

std::vector<std::string> flags_for(const toolchain &t, const lab &l,
                                   const std::vector<std::string> &backends)
{
    std::vector<std::string> result = t.nvcc_flags;
    if (std::ranges::find(backends, "gpu") == backends.end())
        std::erase_if(result, [](const std::string &flag) {
            return flag.starts_with("-gencode=") && flag.find("code=sm_") != std::string::npos;
        });
    // CUB and Thrust mark their calls as NVTX ranges. NVTX loads a profiler's injection library by
    // dlopen, for which the symbol check would reject every file that uses CUB or Thrust.
    result.push_back("-DCCCL_DISABLE_NVTX");
    result.insert(result.end(), l.nvcc.begin(), l.nvcc.end());
    return result;
}

built_submission build_submission(const toolchain &t, const submission_request &request,
                                  const build_limits &limits)
{
    built_submission result;
    try {
        job j = make_job(t, request, limits);
        result.sha256 = sha256(j.text);
        std::string object = request.object.empty() ? object_for(j, result) : request.object;
        std::vector<linked_worker> linked(request.backends.size());
        parallel_for(linked.size(), static_cast<unsigned>(linked.size()), [&](std::size_t i) {
            linked[i] = link_worker(j, object, request.backends[i]);
        });
        for (const linked_worker &w : linked) {
            result.workers.push_back(w.program);
            result.from_cache &= w.from_cache;
            result.cpu_seconds += w.cpu_seconds;
        }
        for (const linked_worker &w : linked)
            if (w.refused) throw *w.refused;
    } catch (const refusal &r) {
        result.verdict = r.what;
        result.message = sanitized(r.message, 1000);
        result.hint = r.hint;
        result.diagnostics = r.diagnostics;
        result.workers.clear();
    } catch (const fs::filesystem_error &e) {
        throw machine_error(fmt::format(
            "building {}: {}", request.path,
            cannot_write((e.path2().empty() ? e.path1() : e.path2()).string(), e.code().value())));
    }
    return result;
}

} // namespace cli
