// Puts a lab's stub back to how it was handed out, and keeps the student's file.
#pragma once

#include "toolchain.hpp"

#include <string>

namespace cli {

// `agreed`: do not ask. Asks on the terminal else; throws usage_error where there is none.
int reset_command(const toolchain &t, const std::string &word, bool agreed);

// Copies the stub to .workbook/kept under a name with the date that nothing has yet; returns it.
std::string keep_stub(const toolchain &t, const lab &l);

} // namespace cli
