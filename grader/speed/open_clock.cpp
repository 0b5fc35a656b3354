// Asks the GPU's calibration whether a case's timed gate tells right from wrong on this model.
#include "speed.hpp"

#include "api/inputs.hpp"
#include "calibration.hpp"
#include "paired_benchmark.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"

#include <fstream>
#include <iterator>

namespace grading {

std::string open_clock(const speed_gates &gates)
{
    if (options().gates_folder.empty()) return {}; // every gate is wanted, as for a calibration
    asked_gate asked;
    asked.model = device().name;
    asked.lab = lab_name();
    asked.contract = options().contract;
    asked.case_name = current_case().name;
    asked.required = gates.speedup;
    // As results state it.
    asked.required_fraction = offers(gates.copy) ? gates.copy.pass : gates.fma.pass;
    for (auto step : {&steps::good, &steps::excellent})
        asked.offered += gates.copy.*step > 0 || gates.fma.*step > 0;
    const std::string path = calibration_file(options().gates_folder, asked.model);
    std::ifstream file(path);
    return open_gate(asked, path, {std::istreambuf_iterator<char>(file), {}});
}

} // namespace grading
