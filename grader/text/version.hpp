// The workbook's version, which results, editions and calibrations name.
#pragma once

namespace grading {

extern const char *const tool_version; // "0.2.0"

} // namespace grading
