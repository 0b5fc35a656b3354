// What this machine has, and what each part enables.
#pragma once

namespace cli {

int doctor_command();

} // namespace cli
