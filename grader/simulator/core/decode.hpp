// Declares the decoder, which turns PTX statements into instructions that handlers execute;
// decode/ implements it.
#pragma once

#include "simulator/lanes/context.hpp"

#include <functional>
#include <optional>
#include <set>

namespace simulator::core {

// The meaning of a name that is defined outside the function.
struct symbol {
    enum class kind : std::uint8_t { device, constant, shared, function } what = kind::device;
    std::uint64_t value = 0; // an address, an offset in shared memory, or a code_window address
};

// Lays out the variables of one memory space one after another. Sizes and alignments come from the
// program, so sums are guarded against overflow.
class area {
public:
    // `what` begins the error message: "Function f has more local memory than a thread can have".
    area(std::string what, std::uint64_t max_bytes) : what_(std::move(what)), max_(max_bytes) {}
    // Returns the offset. Throws ptx::refused if the variable ends beyond max_bytes.
    std::uint32_t place(const ptx::variable &);
    void align(std::uint32_t to);
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(end_); }

private:
    std::string what_;
    std::uint64_t max_, end_ = 0;
};

struct decode_input {
    const ptx::function *source = nullptr;
    const ptx::module_text *module = nullptr;
    std::function<std::optional<symbol>(std::string_view)> find; // module-level and shared names
    std::function<int(std::string_view)> function_index;         // of a defined function; -1: none
};

// Throws std::runtime_error if the function as a whole cannot be decoded. An unknown instruction
// becomes one that ends the grid when it is reached.
void decode(code &out, ptx::body body, const decode_input &);

// The opcodes that have handlers, up to their first dot; "core" stands for the machine's own.
std::set<std::string> handled_opcodes();

} // namespace simulator::core
