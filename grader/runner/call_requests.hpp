// The requests of a call, sent to the submission's worker under a time limit.
#pragma once

#include "argument.hpp"
#include "process/worker_process.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace grading {

// Gives each argument its name in the contract, for messages.
void name_arguments(const std::string &function, std::vector<argument> &arguments);

request load_request(const std::vector<argument> &, const char *function);

// Asks the submission's worker. `function`: the one that is endless if no answer comes.
answer ask_submission(const request &, std::chrono::seconds limit, const std::string &function);

// Begins a call in the current case: ends it if this function, or the whole submission, already
// timed out, and gives the arguments their names.
void begin_call(const char *function, std::vector<argument> &);

} // namespace grading
