// Parser of PTX text: a module's variables and functions, and a function's statements with names
// resolved.
//
// A module is read in two steps: `parse_module` reads headers and variables and records where
// bodies are; `parse_body` reads one function on demand, since a module that includes a library
// contains hundreds of kernels of which few are launched.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulator::ptx {

enum class type : std::uint8_t {
    none,
    pred,
    b8,
    b16,
    b32,
    b64,
    b128,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f16x2,
    bf16,
    bf16x2,
    f32,
    f64,
};
type type_named(std::string_view name); // "u32" without the dot; none if it is no type
std::uint32_t size_of(type);            // in bytes; 1 for a predicate

enum class space : std::uint8_t { generic, global, constant, shared, local, param };

// An element of an initialiser: a number, or symbol + addend, which is resolved when variables have
// addresses.
struct initial_value {
    std::string symbol;     // empty: a number
    bool generic = false;   // `generic(symbol)`: the generic address
    std::uint64_t bits = 0; // the number, or the addend
};

// PTX that is invalid, or beyond the limits of a device or of this parser. It ends in
// cudaErrorInvalidPtx, and is no finding of kind `unsupported`.
struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct variable {
    std::string name;
    ptx::space space = space::global;
    ptx::type type = type::b8;
    std::uint32_t align = 1;
    std::uint64_t bytes = 0; // 0 for an extern array
    bool external = false;
    bool managed = false;              // host code reads and writes it too
    bool in_register = false;          // a parameter or result declared as `.reg`
    std::vector<initial_value> values; // element by element; the rest is zero
    int text_line = 0;
};

struct operand {
    enum class kind : std::uint8_t {
        none,
        reg,       // id
        immediate, // bits: an integer, or a 0f/0d constant (see `real`)
        symbol,    // name (+ bits)
        address,   // [id + bits], [name + bits] or [bits]
        vector,    // elements
        special,   // name: "tid.x"
        discard,   // _
        list,      // (a, b): arguments of a call
    };
    kind what = kind::none;
    bool negated = false; // !p
    char real = 0;        // 'f' or 'd' for a floating constant
    int id = -1;
    std::uint64_t bits = 0;
    std::string name = {};
    std::vector<operand> elements = {};
};

struct source_location { // one .loc directive
    int file = 0, line = 0, column = 0;
    int parent = -1; // index of the call site of inlined code (inlined_at); -1: not inlined
};

struct statement {
    std::vector<std::string_view> op; // opcode and modifiers: "ld", "global", "v2", "f32"
    int guard = -1;                   // register id of the predicate
    bool guard_negated = false;
    std::vector<operand> operands; // `d|p` becomes two operands with `paired` set
    bool paired = false;
    int location = -1;          // index into body::locations
    int text_line = 0;          // line of the PTX text
    std::vector<int> targets;   // statement indices of a branch's targets
    std::string opcode() const; // with modifiers: "ld.global.v2.f32"
};
bool has_part(const statement &, std::string_view part); // the opcode, or a modifier: "global"
std::vector<std::string_view> opcode_parts(std::string_view opcode);

struct body {
    std::vector<ptx::type> registers; // by id
    // Variables declared inside, and those made for register operands of calls
    std::vector<variable> variables;
    std::vector<statement> statements;
    std::vector<source_location> locations;
};

struct function {
    std::string name;
    bool entry = false, defined = false;
    std::vector<variable> parameters, results;
    std::uint32_t max_threads = 0; // product of .maxntid or .reqntid; 0 if absent
    std::string_view text;         // the body between its braces
    int text_line = 0;             // line where `text` starts
};

struct module_text {
    std::string text;
    std::vector<variable> variables;
    std::vector<function> functions;
    std::map<int, std::string> files; // by number in the line table
    std::map<std::string, std::string> aliases;
    const function *find(std::string_view name) const;
};

// Both throw std::runtime_error, or `refused`, with a message such as "PTX line 12: ...".
module_text parse_module(std::string_view text);
body parse_body(const function &);

} // namespace simulator::ptx
