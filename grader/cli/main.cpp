// cuda-workbook: the workbook's commands; ./workbook prepares the machine, then runs this program.
#include "cli/check/check.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/doctor.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/submission/toolchain.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/text.hpp"
#include "command_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

using namespace cli;

int run_command(const command_line &o)
{
    if (o.command == "doctor") return doctor_command();
    if (o.command == "test")
        throw usage_error("the tests are run by the launcher: ./workbook test");
    if (o.command == "convert") return convert_command(o.convert);
    toolchain t = read_toolchain(toolchain_path());
    if (o.command == "class-task")
        return class_task_command(t, o.task.folder, o.task.list, o.task.index);
    if (o.command == "autograde") return autograde_command(t, o.labs, o.grade, o.autograde);
    if (o.command == "release") return release_command(t, o.release);
    if (o.command == "check") return check_command(t, o.labs, o.grade, o.check);
    if (o.command == "calibrate") return calibrate_command(t, o.labs, o.grade);
    copy_stubs(t);
    if (o.command == "demo") return demo_command(t, o.labs, o.grade);
    if (o.command == "watch") return watch_command(t, o.one_lab, o.grade);
    if (o.command == "explain") return explain_command(t, o.one_lab, o.grade, o.page);
    if (o.command == "grade") return grade_command(t, o.labs, o.grade);
    if (o.command == "appeal") return appeal_command(t, o.appeal);
    if (o.command == "hint") return hint_command(t, o.one_lab, o.hint);
    if (o.command == "update") return update_command(t, o.older);
    if (o.command == "start") return start_command(t, o.one_lab, o.open, o.agreed);
    if (o.command == "reset") return reset_command(t, o.one_lab, o.agreed);
    fmt::print("{}", where_am_i(t, read_progress(t), detect_terminal(1)));
    return passed;
}

void complain(const std::exception &e)
{
    // fmt would throw if the write fails, and the terminal may be gone.
    std::fputs((wrapped(e.what(), detect_terminal(2).width, 0) + "\n").c_str(), stderr);
}

int guarded(const command_line &o)
{
    try {
        return run_command(o);
    } catch (const usage_error &e) {
        complain(e);
        return wrong_usage;
    } catch (const no_device_error &e) {
        complain(e);
        return nothing_graded;
    } catch (const stop_requested &) {
        // The terminal has echoed ^C at the start of the line; overwrite it.
        std::fputs(detect_terminal(2).interactive ? "\rstopped\n" : "stopped\n", stderr);
        return stopped;
    } catch (const std::filesystem::filesystem_error &e) {
        complain(machine_error(
            fmt::format("{}: {}. See ./workbook doctor", e.path1().string(), e.code().message())));
        return infrastructure;
    } catch (const std::exception &e) { // machine_error and exceptions of the standard library
        complain(e);
        return infrastructure;
    }
}

} // namespace

int main(int count, char **words)
{
    command_line o;
    if (std::optional<int> status = parse_command_line(count, words, o)) return *status;
    cli::handle_signals();
    // Line buffering keeps our output in order with that of child processes.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return guarded(o);
}
