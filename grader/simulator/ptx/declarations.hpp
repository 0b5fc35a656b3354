// Declarations of variables, as they stand outside functions and in them.
#pragma once

#include "ptx_lexer.hpp"

namespace simulator::ptx {

space space_named(std::string_view directive); // ".shared"; global for any other

// Reads .align 4 .b8 of `.align 4 .b8 name[64], other;`; the words before are already taken.
variable take_kind(lexer &, ptx::space);
// Reads name[64] of such a declaration.
variable take_named(lexer &, variable kind);
// Reads all names of such a declaration with their initial values, and the semicolon.
void take_variables(lexer &, const variable &kind, std::vector<variable> &);

void skip_to_semicolon(lexer &);

} // namespace simulator::ptx
