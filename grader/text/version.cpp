// The version has a file of its own, so that a release recompiles nothing else.
#include "version.hpp"

namespace grading {

const char *const tool_version = WORKBOOK_VERSION;

} // namespace grading
