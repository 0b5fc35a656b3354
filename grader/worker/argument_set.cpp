// Asks a submission how much scratch memory it needs.
#include "argument_set.hpp"

#include <sstream>
#include <stdexcept>

namespace grading {

std::uint64_t scratch_bytes(const argument_set &s, const std::string &function, bool of_any_size)
{
    std::string name = function + "_scratch";
    const entry *e = find_entry(name);
    if (!e || e->result_bytes != sizeof(std::size_t))
        throw std::runtime_error("lab.hpp declares no size_t " + name);
    std::vector<void *> arguments;
    std::istringstream parameters(e->parameters);
    for (std::string parameter; std::getline(parameters, parameter, ',');)
        for (std::size_t i = 0; i < s.descriptors.size(); ++i)
            if (s.descriptors[i].where == argument_memory::value &&
                parameter == s.descriptors[i].name)
                arguments.push_back(const_cast<std::byte *>(s.values[i].data()));
    if (static_cast<std::ptrdiff_t>(arguments.size()) !=
        std::count(e->parameters, e->parameters + std::strlen(e->parameters), ',') + 1)
        throw std::runtime_error(name + " has parameters that " + function + " has not");
    std::size_t bytes = 0, free = 0, total = 0;
    e->run(arguments.data(), &bytes);
    if (of_any_size) return bytes;
    check(cudaMemGetInfo(&free, &total));
    if (bytes > total)
        throw std::runtime_error(name + " asks for " + std::to_string(bytes) +
                                 " bytes, more than the device has");
    return bytes;
}

} // namespace grading
