// The calibration of a GPU model: which timed gates tell right from wrong there, and the file that
// holds the figures, data/gates/MODEL.json.
//
// A gate was chosen on one model. On another the naive version may reach it, or the solution may
// not. It is kept only where the ladder was measured on that model and stands on the right sides of
// it. The file says so in `kept`, which must follow from its figures: every reader decides anew.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace grading {

constexpr const char *calibration_schema = "cuda-workbook-gates/1";

// The solution must reach this multiple of the required ratio.
constexpr double solution_margin = 1.25;

// How one version did in a timed case.
struct calibration_figure {
    std::string verdict; // on the GPU: "PASS", "TOO_SLOW"
    // Naive's time over the version's: median, and the ends of its interval. NaN: not measured.
    double ratio = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = std::numeric_limits<double>::quiet_NaN();
    double fraction = 0;      // of the device's rate, 0 to 1; 0: none is stated
    int reached = 0;          // steps of the case
    std::string counted = {}; // verdict on the simulator; "SKIPPED": the case has no counted gate
};

bool misses_lesson(const calibration_figure &f); // the simulator's counters fail it

struct calibrated_case {
    double required = 0;          // S, the least ratio; 0: only a fraction is required
    double required_fraction = 0; // of the device's copy bandwidth or multiply-add rate
    int offered = 1;              // steps
    bool naive_may_pass = false;  // the gate rejects other ways, not naive's
    calibration_figure naive, solution;
    std::map<std::string, calibration_figure> rungs;
};

struct gate_decision {
    bool kept = false;
    std::string why; // the reason if it is not: "naive reaches 3.2, and 3 is required"
};
// Keeps a gate where naive, and each rung that misses the lesson, stay below the required ratio
// with the upper end of their interval, and the solution passes with the lower end of its own at
// `solution_margin` times that ratio and with every step. A rung misses the lesson if the
// simulator's counters fail it; where nothing is counted, naive alone must stay below.
gate_decision decide_gate(const calibrated_case &c);

// One lab's part of the file.
struct calibrated_lab {
    std::string contract;                    // contract_hash() when it was measured
    std::string driver, cuda, date, version; // of the driver, CUDA, and the workbook
    std::map<std::string, calibrated_case> cases;
};
struct calibration {
    std::string model, cc; // "NVIDIA H200", "9.0"
    std::map<std::string, calibrated_lab> labs;
};

// Reads a file. Throws std::invalid_argument, which says what is wrong, also if a `kept` does not
// follow from the figures beside it.
calibration parse_calibration(const std::string &text);
std::string calibration_text(const calibration &c);

// "data/gates/NVIDIA_H200.json" for the folder "data/gates".
std::string calibration_file(const std::string &folder, const std::string &model);

// Identifies the code that the figures of a lab depend on: its contract and the naive version, less
// comments and blanks. Functions below a line "// --- Not timed ---" of either have no timed case,
// so they do not count.
std::string contract_hash(const std::string &header, const std::string &naive);

// The gate of a case as the grader asks for it.
struct asked_gate {
    std::string model, lab, contract, case_name;
    double required = 0, required_fraction = 0;
    int offered = 1;
};
// Looks a gate up in the text of `file`; `text` is empty where there is no such file. Returns why
// the clock cannot be judged, and what to do, in words for the student; empty: the gate is kept.
std::string open_gate(const asked_gate &gate, const std::string &file, const std::string &text);

} // namespace grading
