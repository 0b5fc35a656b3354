// Reads declarations of variables, at module level and inside functions.
#pragma once

#include "ptx_lexer.hpp"

namespace simulator::ptx {

space space_named(std::string_view directive); // ".shared"; global for any other directive

// Reads `.align 4 .b8` of `.shared .align 4 .b8 name[64], other;`, after the state space.
variable take_variable_type(lexer &, ptx::space);
// Reads one declarator, `name[64]`, of a declaration with that type.
variable take_declarator(lexer &, variable type);
// Reads all declarators of a declaration with their initialisers, and the semicolon.
void take_variables(lexer &, const variable &type, std::vector<variable> &);

void skip_to_semicolon(lexer &);

} // namespace simulator::ptx
