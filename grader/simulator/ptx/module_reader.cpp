// Reads a module: its variables, the headers of its functions, and where their bodies are.
#include "declarations.hpp"

namespace simulator::ptx {
namespace {

constexpr std::size_t max_module_bytes = 64 << 20;

std::vector<variable> take_parameters(lexer &in)
{
    std::vector<variable> list;
    in.expect("(");
    while (!in.accept(")")) {
        auto t = in.take_directive();
        if (t != ".param" && t != ".reg")
            fail(in.line(), "expected .param, found " + std::string(t));
        list.push_back(take_declarator(in, take_variable_type(in, space::param)));
        list.back().in_register = t == ".reg";
        in.accept(",");
    }
    return list;
}

function take_function(lexer &in, bool entry)
{
    function f;
    f.entry = entry;
    if (!entry && in.at("(")) f.results = take_parameters(in);
    f.name = in.take();
    if (in.at("(")) f.parameters = take_parameters(in);
    while (!in.done() && !in.at("{") && !in.at(";")) {
        auto t = in.take();
        if (t == ".maxntid" || t == ".reqntid") {
            std::uint64_t product = take_number(in);
            while (in.accept(",")) product *= take_number(in);
            f.max_threads = static_cast<std::uint32_t>(product);
        } else if (!t.starts_with(".") && t != "," && !is_digit(t[0])) {
            fail(in.line(), "`" + std::string(t) + "` in the header of " + f.name);
        }
    }
    if (in.accept(";")) return f;
    in.expect("{");
    f.defined = true;
    f.text_line = in.line();
    f.text = in.take_braces();
    return f;
}

void take_file(lexer &in, module_text &m)
{
    int index = static_cast<int>(take_number(in));
    auto name = in.take();
    m.files[index] = std::string(name.substr(1, name.size() - 2));
    while (in.accept(",")) take_number(in);
}

void take_linkage(lexer &in, module_text &m)
{
    bool external = false;
    while (in.at(".extern") || in.at(".visible") || in.at(".weak") || in.at(".common"))
        external |= in.take() == ".extern";
    int line = in.line();
    auto t = in.take_directive();
    if (t == ".entry" || t == ".func") {
        m.functions.push_back(take_function(in, t == ".entry"));
        return;
    }
    if (t != ".global" && t != ".const" && t != ".shared")
        fail(line, "`" + std::string(t) + "` is not understood at module level");
    variable type = take_variable_type(in, space_named(t));
    type.external = external;
    take_variables(in, type, m.variables);
}

} // namespace

module_text parse_module(std::string_view text)
{
    module_text m;
    m.text = text.substr(0, text.find('\0'));
    if (m.text.size() > max_module_bytes)
        refuse(1, "a text of " + std::to_string(m.text.size() >> 20) + " MiB; at most " +
                      std::to_string(max_module_bytes >> 20) + " are read");
    lexer in(m.text, 1);
    if (!in.accept(".version")) fail(in.line(), "expected .version: this is not PTX");
    in.take();
    while (!in.done()) {
        if (in.accept(".target")) {
            in.take();
            while (in.accept(",")) in.take();
        } else if (in.accept(".address_size")) {
            if (take_number(in) != 64) fail(in.line(), "only 64-bit addresses are supported");
        } else if (in.accept(".file")) {
            take_file(in, m);
        } else if (in.accept(".section")) {
            in.take();
            in.expect("{");
            in.take_braces();
        } else if (in.accept(".pragma")) {
            skip_to_semicolon(in);
        } else if (in.accept(".alias")) {
            auto name = in.take();
            in.expect(",");
            m.aliases[std::string(name)] = in.take();
            in.expect(";");
        } else if (!in.accept(";")) {
            take_linkage(in, m);
        }
    }
    return m;
}

} // namespace simulator::ptx
