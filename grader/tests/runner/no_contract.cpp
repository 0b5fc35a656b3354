// Replaces a lab's generated table for tests that call no function of a contract.
#include "process/contract.hpp"

namespace grading {

extern const entry contract[] = {{"", "", nullptr, 0}};
extern const int contract_size = 0, contract_devices = 1;

} // namespace grading
