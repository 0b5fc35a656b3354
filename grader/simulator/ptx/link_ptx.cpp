// Links the PTX of separately compiled objects (-rdc=true) into one text.
#include "link_ptx.hpp"
#include "ptx_lexer.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace simulator {

namespace {

// Returns the next token and skips comments: a name, number, directive or string, or any other
// character by itself.
std::string_view next_token(std::string_view text, std::size_t &at)
{
    while (at < text.size()) {
        if (std::isspace(static_cast<unsigned char>(text[at])))
            ++at;
        else if (text.substr(at, 2) == "//")
            at = std::min(text.find('\n', at), text.size());
        else if (text.substr(at, 2) == "/*")
            at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
        else
            break;
    }
    const std::size_t start = at;
    if (at == text.size()) return {};
    if (text[at] == '"') {
        at = text.find('"', at + 1);
        if (at == text.npos) throw std::runtime_error("PTX: an unterminated string");
        ++at;
    } else if (ptx::word_character(text[at])) {
        while (at < text.size() && ptx::word_character(text[at])) ++at;
    } else {
        ++at;
    }
    return text.substr(start, at - start);
}

enum class item_kind { heading, file, variable, function, other };
enum class linkage { local, visible, weak, external };

// One item at module level: a directive, a variable, or a function with its body.
struct item {
    item_kind kind = item_kind::other;
    linkage visibility = linkage::local;
    std::string name; // of a variable or function
    std::string text;
    bool has_body = false; // of a function
};

// Sets kind, linkage and name. A function begins `.func (results) name (parameters)`, a variable
// `.global .type name[size]`.
void classify(item &it)
{
    std::string_view previous;
    int depth = 0;
    for (std::size_t at = 0; at < it.text.size();) {
        const auto token = next_token(it.text, at);
        if (token.empty()) return;
        if (token == ".extern") it.visibility = linkage::external;
        if (token == ".visible") it.visibility = linkage::visible;
        if (token == ".weak" || token == ".common") it.visibility = linkage::weak;
        if (token == ".func" || token == ".entry") it.kind = item_kind::function;
        const bool in_space =
            token == ".global" || token == ".const" || token == ".shared" || token == ".local";
        if (in_space && it.kind == item_kind::other) it.kind = item_kind::variable;
        if (it.kind == item_kind::function) {
            const bool plain = token[0] != '.' && ptx::word_character(token[0]);
            if (depth == 0 && plain) {
                it.name = token;
                return;
            }
        } else if (it.kind == item_kind::variable && depth == 0 &&
                   (token == "[" || token == "=" || token == ";")) {
            it.name = previous;
            return;
        }
        depth += token == "(" ? 1 : token == ")" ? -1 : 0;
        previous = token;
    }
}

std::vector<item> split(std::string_view text)
{
    std::vector<item> items;
    for (std::size_t at = 0; at < text.size();) {
        const auto first = next_token(text, at);
        if (first.empty()) break;
        item it;
        const auto start = static_cast<std::size_t>(first.data() - text.data());
        if (first == ".version" || first == ".target" || first == ".address_size" ||
            first == ".file") {
            it.kind = first == ".file" ? item_kind::file : item_kind::heading;
            at = std::min(text.find('\n', start), text.size());
            it.text = text.substr(start, at - start);
            items.push_back(std::move(it));
            continue;
        }
        int depth = 0;
        bool initialiser = false;
        for (;;) {
            const auto token = next_token(text, at);
            if (token.empty()) throw std::runtime_error("PTX: the text ends inside a statement");
            if (token == "=") initialiser = true;
            if (token == "{" && ++depth == 1 && !initialiser) it.has_body = true;
            if (token == "}" && --depth == 0 && !initialiser) break;
            if (token == ";" && depth == 0) break;
        }
        if (first == ".section") continue; // DWARF debug information
        it.text = text.substr(start, at - start);
        classify(it);
        items.push_back(std::move(it));
    }
    return items;
}

int file_number(std::string_view token)
{
    int n = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), n);
    if (error != std::errc() || end != token.data() + token.size() || n > 1 << 20)
        throw std::runtime_error("PTX: \"" + std::string(token) + "\" is not a file number");
    return n;
}

// Renames symbols, and adds `shift` to the file numbers of `.file`, `.loc` and `inlined_at`.
std::string rewrite(std::string_view text, const std::map<std::string, std::string> &names,
                    int shift)
{
    std::string out;
    std::size_t copied = 0;
    bool number_is_file = false;
    for (std::size_t at = 0;;) {
        const auto token = next_token(text, at);
        if (token.empty()) break;
        const auto start = static_cast<std::size_t>(token.data() - text.data());
        std::string replacement;
        if (number_is_file && std::isdigit(static_cast<unsigned char>(token[0])))
            replacement = std::to_string(file_number(token) + shift);
        else if (auto it = names.find(std::string(token)); it != names.end())
            replacement = it->second;
        number_is_file = token == ".loc" || token == "inlined_at" || token == ".file";
        if (replacement.empty()) continue;
        out.append(text, copied, start - copied);
        out += replacement;
        copied = at;
    }
    return out.append(text, copied, text.size() - copied);
}

int highest_file(const std::vector<item> &items)
{
    int highest = 0;
    for (const item &it : items) {
        if (it.kind != item_kind::file) continue;
        std::size_t at = 0;
        next_token(it.text, at);
        highest = std::max(highest, file_number(next_token(it.text, at)));
    }
    return highest;
}

// Returns new names for the local names of a part that an earlier part defines, too.
std::map<std::string, std::string> new_names(const std::vector<item> &items,
                                             const std::map<std::string, linkage> &defined,
                                             std::size_t part)
{
    std::map<std::string, std::string> names;
    for (const item &it : items)
        if (it.visibility == linkage::local && !it.name.empty() && defined.contains(it.name))
            names[it.name] = it.name + "$part" + std::to_string(part);
    return names;
}

// Turns `.extern .func f ...;` into a prototype with the linkage of f's definition, which the
// merged text contains.
std::string prototype(std::string text, linkage of_definition)
{
    const auto at = text.find(".extern");
    if (at == text.npos) return text;
    return text.replace(at, 7, of_definition == linkage::weak ? ".weak" : ".visible");
}

bool defines(const item &it)
{
    return it.visibility != linkage::external &&
           (it.kind == item_kind::variable || (it.kind == item_kind::function && it.has_body));
}

} // namespace

std::string link_ptx(const std::vector<std::string> &texts)
{
    if (texts.size() == 1) return texts.front();

    std::vector<std::vector<item>> parts;
    std::map<std::string, linkage> defined; // by name that a part defines
    int files = 0;
    for (const std::string &text : texts) {
        auto items = split(text);
        const auto names = new_names(items, defined, parts.size());
        const int here = highest_file(items);
        for (item &it : items) {
            if (it.kind == item_kind::heading) continue;
            it.text = rewrite(it.text, names, files);
            if (auto n = names.find(it.name); n != names.end()) it.name = n->second;
            if (defines(it)) defined.emplace(it.name, it.visibility);
        }
        files += here;
        parts.push_back(std::move(items));
    }

    // Variables come first, then prototypes, then functions: each name is declared before its use,
    // whatever the order of the parts.
    std::string heading, line_table, variables, prototypes, functions;
    std::set<std::string> done, declared;
    for (std::size_t part = 0; part < parts.size(); ++part)
        for (const item &it : parts[part]) {
            const bool first = defines(it) && done.insert(it.name).second;
            switch (it.kind) {
            case item_kind::heading:
                if (part == 0) heading += it.text + "\n";
                break;
            case item_kind::file:
                line_table += it.text + "\n";
                break;
            case item_kind::variable:
                if (first ||
                    (!defines(it) && !defined.count(it.name) && declared.insert(it.name).second))
                    variables += it.text + "\n";
                break;
            case item_kind::function:
                if (first) {
                    functions += it.text + "\n";
                } else if (!defines(it) && declared.insert(it.name).second) {
                    const auto definition = defined.find(it.name);
                    prototypes +=
                        (definition == defined.end() ? it.text
                                                     : prototype(it.text, definition->second)) +
                        "\n";
                } else if (defines(it) && it.visibility == linkage::visible) {
                    throw std::runtime_error("PTX: two parts define " + it.name);
                }
                break;
            case item_kind::other:
                functions += it.text + "\n";
                break;
            }
        }
    return heading + variables + prototypes + functions + line_table;
}

} // namespace simulator
