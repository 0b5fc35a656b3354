// Begins a call: its arguments' names, and its requests to the submission's worker.
#pragma once

#include "api/argument.hpp"
#include "process/worker_process.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace grading {

// Gives each argument its name in the contract, for messages.
void name_arguments(const std::string &function, std::vector<argument> &arguments);

// Makes the request that loads the arguments of `function` into a worker.
request load_request(const std::vector<argument> &, const char *function);

// Asks the submission's worker. If no answer comes in time, later cases do not call `function`;
// empty: they call none of the submission's functions.
answer ask_submission(const request &, std::chrono::seconds limit, const std::string &function);

// Begins a call in the current case: ends it if this function, or the whole submission, already
// timed out, and gives the arguments their names.
void begin_call(const char *function, std::vector<argument> &);

} // namespace grading
