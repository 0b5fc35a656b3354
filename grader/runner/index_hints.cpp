// Words for an index that is too small or too large.
#include "index_hints.hpp"

#include "case_record.hpp"

namespace grading {

std::string negative_index_hint(bool just_before, bool copied)
{
    if (copied) return "Where does the copy begin: which element is the first of this piece?";
    return just_before
               ? "An index is -1 here: is everything one place too early, or does the "
                 "first thread or its neighbour begin before the array, with no test that says "
                 "so?"
               : "Look for an index that can be negative: a difference, a product that does "
                 "not fit an int, or a number kept in a type that is too small for it.";
}

bool has_unqualified_name(std::string_view symbol, std::string_view name)
{
    return symbol == name || (symbol.ends_with(name) &&
                              symbol.substr(0, symbol.size() - name.size()).ends_with("::"));
}

bool has_own_hint(std::string_view array, bool shared)
{
    const auto &own = current_case().past_the_end;
    if (own.hint.empty() || own.array.empty()) return !own.hint.empty() && !shared;
    return shared || has_unqualified_name(array, own.array);
}

std::string large_index_hint(bool one_element, bool write, std::string_view array, bool shared,
                             bool copied)
{
    if (has_own_hint(array, shared)) return current_case().past_the_end.hint;
    if (copied)
        return "Does a copy count more bytes than are left, or begin at another element than is "
               "meant?";
    if (one_element)
        return "It is one element only: is everything one place too late, or does a test let one "
               "index too many through?";
    return write ? "Compare the index with the number of elements of this array before the write: "
                   "the last block usually has threads to spare, and another array's size or a "
                   "rounded one is too large."
                 : "Compare the index with the number of elements of this array before the read: "
                   "threads to spare in the last block, and neighbours of the last elements, lie "
                   "beyond it.";
}

} // namespace grading
