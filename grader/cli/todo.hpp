// Which TODO of a stub a case belongs to, and which failed case a student should look at first.
#pragma once

#include "result.hpp"

#include <map>
#include <string>

namespace cli {

// A stub's comments say "TODO 2 (read_offset):", the first to do for a function, or name one case:
// "TODO 3 (read_offset: sectors at offset 11):".
class todo_list {
public:
    explicit todo_list(const std::string &stub_text);
    int of_case(const std::string &case_name) const; // 0: none is known
    // A case with a TODO apart from its function's: work for "when everything else passes".
    bool is_for_later(const std::string &case_name) const;

private:
    int find(const std::string &what) const;
    std::map<std::string, int> numbers_;
};

std::string function_of(const std::string &case_name); // what stands before the colon

// Right before fast, and first things first: wrong answers; speed that belongs to a function's own
// TODO; functions that nobody wrote yet; what is for later. Null when nothing failed.
const case_view *first_to_mend(const lab_view &l, const todo_list &todos);

} // namespace cli
