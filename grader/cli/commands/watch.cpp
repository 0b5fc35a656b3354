// The watch command, which grades a lab's stub after every save until the student quits.
//
// Each grade runs the `grade` command in a child process, so that the screen and the keys survive
// its failures. A save during a grade stops it and starts a new one, because a verdict on the old
// text is of no use; a stopped grade records no points.
#include "commands.hpp"

#include "background_grade.hpp"
#include "cli/grading/backend.hpp"
#include "cli/results/hints.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/watch_screen.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/file_watcher.hpp"
#include "cli/terminal/key_reader.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

namespace cli {

namespace fs = std::filesystem;

namespace {

using steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{200};

// Writes a whole screen at one go, so that no partial one is seen. The terminal may be gone.
void write_out(std::string_view text)
{
    std::fflush(stdout);
    write_all(1, text);
}

// Returns the stub and the project's headers that it may include.
std::vector<std::string> watched(const toolchain &t, const lab &l)
{
    std::vector<std::string> files = t.headers(l);
    files.insert(files.begin(), t.stub(l));
    return files;
}

class watcher {
public:
    watcher(const toolchain &t, const lab &l, std::vector<std::string> grade, std::string seed)
        : tools_(t),
          lab_(l),
          grade_(std::move(grade)),
          seed_(std::move(seed)),
          todos_(todos_of(t, l)),
          files_(watched(t, l)),
          saves_(look_at(files_)),
          out_(detect_terminal(1)),
          keys_(0)
    {
        state_.lab = l.name;
        state_.file = t.shown(t.stub(l));
    }

    int loop(const std::string &backend)
    {
        state_.simulated = backend == "sim";
        backend_ = backend;
        refresh_progress();
        begin();
        auto next_look = steady::now() + between_looks;
        while (true) {
            show();
            wait(next_look);
            if (stop_was_requested()) throw stop_requested();
            if (keys_.disturbed()) shown_.clear();
            std::optional<std::string> typed = keys_.typed();
            if (!typed) throw stop_requested(); // the terminal is gone, with or before its signal
            for (char key : *typed)
                if (!press(key)) return passed;
            if (running_) check_run();
            if (running_)
                state_.waited =
                    std::floor(std::chrono::duration<double>(steady::now() - started_).count());
            if (steady::now() < next_look) continue;
            if (saves_.look(look_at(files_))) begin();
            next_look = steady::now() + between_looks;
        }
    }

private:
    void wait(steady::time_point until)
    {
        using std::chrono::milliseconds;
        auto left = std::chrono::ceil<milliseconds>(until - steady::now()).count();
        pollfd all[3] = {{0, POLLIN, 0},
                         {stop_descriptor(), POLLIN, 0},
                         {running_ ? running_->descriptor() : -1, POLLIN, 0}};
        // A signal ends the wait as well; the loop looks at everything in any case.
        poll(all, 3, static_cast<int>(std::max<long long>(left, 0)));
    }

    // Starts grading the files' present contents, and stops a grade that is running.
    // `saved`: the files have changed; false: they are graded once more.
    void begin(bool saved = true)
    {
        running_.reset();
        ending_.reset();
        started_ = steady::now();
        if (saved) state_.saved = local_time("%H:%M:%S");
        state_.helped.reset();
        state_.waited = 0;
        state_.by_simulator = false;
        state_.next.clear();
        if (!saves_.known().at(files_[0])) {
            state_.now = watch_state::phase::missing;
            state_.document = nullptr;
            return;
        }
        todos_ = todos_of(tools_, lab_);
        state_.now = watch_state::phase::grading;
        state_.step = fmt::format("Grading what was saved at {} ...", state_.saved);
        std::vector<std::string> command = grade_;
        command.insert(command.end(), {"--seed", seed_});
        std::string folder = tools_.build_root + "/watch";
        std::error_code problem;
        fs::create_directories(folder, problem);
        if (problem) {
            state_.now = watch_state::phase::fault;
            state_.trouble = cannot_write(folder, problem.value()) + "\nr tries again.";
            return;
        }
        std::string file = fmt::format("{}/result.{}.json", folder, getpid());
        running_ = std::make_unique<background_grade>(command, file);
    }

    void check_run()
    {
        std::string step = running_->step();
        if (!step.empty() && !state_.by_simulator)
            state_.step = fmt::format("Grading what was saved at {}: {} ...", state_.saved, step);
        const bool done = running_->done(); // it has a result a while before
        json document = document_in(running_->json_file());
        const bool has_result = invalid(document).empty();
        if (!done && !has_result) return take_simulated();
        state_.seconds = std::chrono::duration<double>(steady::now() - started_).count();
        if (has_result) {
            state_.document = std::move(document);
            state_.now = watch_state::phase::graded;
        } else {
            tell_fault();
        }
        ending_ = std::move(running_);
        refresh_progress();
    }

    // Shows the simulator's part while the GPU's goes on.
    void take_simulated()
    {
        if (state_.by_simulator) return;
        json document = document_in(running_->simulator_file());
        if (!invalid(document).empty()) return;
        state_.document = std::move(document);
        state_.by_simulator = true;
        state_.step = fmt::format(
            "Saved at {}: so far by the simulator. The GPU's part goes on ...", state_.saved);
    }

    static json document_in(const std::string &file)
    {
        return fs::exists(file) ? json::parse(read_text(file), nullptr, false) : json();
    }

    void tell_fault()
    {
        state_.now = watch_state::phase::fault;
        state_.document = nullptr;
        state_.trouble.clear();
        const exit_result &end = running_->end();
        for (const std::string &line : lines(sanitized(end.text, 4000)))
            if (!line.starts_with("grading ")) state_.trouble += line + "\n";
        if (end.what != exit_result::exited || state_.trouble.empty())
            state_.trouble += "The grading program " + end.words() + ".\n";
        state_.trouble += "r tries again; ./workbook doctor looks for what is missing.";
    }

    void refresh_progress()
    {
        progress_record record = read_progress(tools_);
        for (const progress_entry &e : record.entries)
            if (e.lab == lab_.name && e.backend == backend_) {
                state_.best = e.best;
                state_.max_points = e.max_points;
            }
        bool reached = state_.max_points > 0 && state_.now == watch_state::phase::graded &&
                       labs_of(state_.document)[0].all_but_open();
        state_.hints_for = reached ? 0 : todo_at_hand(tools_, lab_, record);
        state_.all_hints_seen =
            state_.hints_for != 0 &&
            hints_seen(record, state_.hints_for) >= hints_of(tools_, lab_, state_.hints_for).size();
        if (reached) state_.next = what_next(record);
    }

    std::vector<std::string> what_next(const progress_record &record)
    {
        std::vector<std::string> result;
        std::string handout = "handouts/" + lab_.name + ".md";
        if (fs::exists(tools_.source_root + "/" + handout))
            result.push_back(fmt::format("To go further: the end of {}.", handout));
        if (lab_.solutions)
            result.push_back(fmt::format("To compare, a step at a time: solutions/{}/, "
                                         "./workbook demo {}",
                                         lab_.name, number_of(lab_.name)));
        const lab *next = next_lab(tools_, record);
        result.push_back(
            next ? fmt::format("The next lab: q, then ./workbook watch {}", number_of(next->name))
                 : "Every lab is done.");
        return result;
    }

    // Handles a key; returns false to quit.
    bool press(char key)
    {
        switch (std::tolower(key)) {
        case 'q':
        case 4: // Ctrl-D
            return false;
        case 'r':
            seed_ = choose_seed("");
            begin(false);
            break;
        case 'h':
            help();
            break;
        }
        return true;
    }

    // Shows one more hint, and with the last one where to read on; then all of them again.
    void help()
    {
        int todo = state_.hints_for;
        if (!todo) return;
        std::vector<hint> hints = hints_of(tools_, lab_, todo);
        if (hints.empty()) return;
        const std::size_t seen = hints_seen(read_progress(tools_), todo);
        const bool more = seen < hints.size();
        const bool again = !more && state_.helped && state_.helped->todo == todo;
        std::size_t number = more ? seen : again ? state_.hint_number % hints.size() : 0;
        state_.helped = hints[number];
        state_.hint_number = number + 1;
        state_.hints = hints.size();
        if (state_.hint_number == hints.size())
            state_.helped->text += "\nThat was the last. " + read_on(tools_, lab_, todo);
        if (more) keep_count_of_hints(todo, static_cast<int>(seen) + 1);
        refresh_progress();
    }

    std::size_t hints_seen(const progress_record &record, int todo) const
    {
        int seen = hints_shown(record, lab_, todo);
        if (auto at = unkept_hints_.find(todo); at != unkept_hints_.end())
            seen = std::max(seen, at->second);
        return static_cast<std::size_t>(seen);
    }

    // Also remembers the count in memory, in case the file cannot be written.
    void keep_count_of_hints(int todo, int shown)
    {
        unkept_hints_[todo] = shown;
        try {
            keep_hints(tools_, lab_.name, todo, shown);
        } catch (const machine_error &e) {
            state_.helped->text += fmt::format("\nThat it was shown is not kept: {}", e.what());
        }
    }

    int rows() const
    {
        winsize size{};
        return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
    }

    // Redraws the screen if it has changed. On a terminal that cannot move the cursor, each screen
    // is written below the one before.
    void show()
    {
        bool cursor = out_.interactive;
        out_ = detect_terminal(1);
        std::vector<std::string> now = draw(state_, todos_, out_, rows());
        if (now == shown_) return;
        std::string text = shown_.empty() && cursor ? "\033[H\033[2J" : cursor ? "\033[H" : "\n";
        if (!cursor && !shown_.empty()) text += std::string(40, '-') + "\n";
        for (std::size_t i = 0; i < now.size(); ++i)
            text += (i ? "\n" : "") + now[i] + (cursor ? "\033[K" : "");
        if (cursor) text += "\033[J";
        write_out(text);
        shown_ = now;
    }

    const toolchain &tools_;
    const lab &lab_;
    std::vector<std::string> grade_;
    std::string seed_, backend_;
    todo_list todos_;
    std::vector<std::string> files_; // the stub first, then the headers that it may include
    save_detector saves_;
    terminal out_;
    key_reader keys_;
    watch_state state_;
    std::map<int, int> unkept_hints_; // number of hints shown, by TODO
    std::vector<std::string> shown_;
    steady::time_point started_;
    std::unique_ptr<background_grade> running_, ending_; // `ending_` has its result
};

// Moves the shell's prompt below the last screen, however the loop ends.
struct line_after {
    ~line_after() { write_out("\n"); }
};

} // namespace

int watch(const toolchain &t, const lab &l, const std::vector<std::string> &grade,
          const std::string &backend, std::string seed)
{
    line_after end;
    return watcher(t, l, grade, std::move(seed)).loop(backend);
}

int watch_command(const toolchain &t, const std::string &word, grade_options options)
{
    const lab &l = lab_called(t, find_lab(word, t.lab_names(false)));
    if (!isatty(0) || !isatty(1))
        throw usage_error(fmt::format("watch needs a terminal: it reads keys and redraws the "
                                      "screen. To grade once, type instead: ./workbook grade {}",
                                      number_of(l.name)));
    const std::string wanted = options.backend;
    {
        // The first build takes longest and prints more than the screen has room for.
        progress_line progress;
        choose_backend(t, l, options, progress);
        build_for_grading(t, {{&l, stub_of(t, l)}}, options.backend, progress);
    }
    std::string self = fs::read_symlink("/proc/self/exe").string();
    // With "auto" a grade's own grader tries the GPU, which saves a process per grade.
    const std::string backend = options.backend == "both" ? wanted : options.backend;
    return watch(t, l, {self, "grade", l.name, "--backend", backend}, options.backend,
                 options.seed);
}

} // namespace cli
