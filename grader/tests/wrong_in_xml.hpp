// Finds what is not well formed in XML, and in pages that close every tag.
#pragma once

#include <string>
#include <vector>

// Returns the first error in XML: a bad character between tags, or tags not closed in order.
inline std::string wrong_in_xml(const std::string &text)
{
    std::vector<std::string> open;
    for (std::size_t at = text.find("?>") + 2; at < text.size();) {
        if (text[at] != '<') {
            if (text[at] == '>' || (text[at] == '&' && text.find(';', at) > at + 5))
                return "not escaped: " + text.substr(at, 40);
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        for (bool quoted = false; quoted || text[end] != '>'; ++end) {
            if (end + 1 >= text.size() || text[end] == '<') return "tag: " + text.substr(at, 40);
            if (text[end] == '"') quoted = !quoted;
        }
        std::string tag = text.substr(at + 1, end - at - 1);
        std::string name = tag.substr(0, tag.find_first_of(" /", 1));
        if (tag[0] == '/') {
            if (open.empty() || "/" + open.back() != tag) return "closed: " + tag;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
        at = end + 1;
    }
    return open.empty() ? "" : "open: " + open.back();
}
