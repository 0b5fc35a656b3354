// Lays out --help.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace cli {

// For 80 columns, and the same with every version of CLI11: later ones wrap paragraphs of their own
// accord, which joins the lines of a table, and none of them wraps a list of choices.
std::shared_ptr<CLI::FormatterBase> help_format();

} // namespace cli
