// Finds the functions of a source by their braces, and the lines of them to show.
#include "source_view.hpp"

#include "words.hpp"

#include <algorithm>
#include <cctype>

namespace grading {

namespace {

constexpr int context = 3;           // lines around a noted one
constexpr int min_omitted_lines = 4; // shorter gaps are shown, too

// Walks through C++ source and counts lines; skips comments, literals and directives.
class scanner {
public:
    explicit scanner(std::string_view text) : text_(text) {}
    bool ended() const { return at_ >= text_.size(); }
    int line() const { return line_; }
    // Returns the next character of code, with a blank in place of skipped text.
    char next()
    {
        bool begins = begins_;
        char c = text_[at_];
        if (!std::isspace(static_cast<unsigned char>(c))) begins_ = false;
        if (c == '#' && begins) return directive();
        if (c == '/' && peek(1) == '/') return until("\n");
        if (c == '/' && peek(1) == '*') return past("*/");
        if (c == 'R' && peek(1) == '"') return raw();
        if (c == '"' || (c == '\'' && !digit_before())) return literal(c);
        step();
        return c;
    }

private:
    char peek(std::size_t k) const { return at_ + k < text_.size() ? text_[at_ + k] : '\0'; }
    bool digit_before() const // 1'000'000
    {
        return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1]));
    }
    void step()
    {
        if (text_[at_] == '\n') {
            ++line_;
            begins_ = true;
        }
        ++at_;
    }
    void to(std::size_t where)
    {
        where = std::min(where, text_.size());
        while (at_ < where) step();
    }
    char until(std::string_view end)
    {
        to(text_.find(end, at_));
        return ' ';
    }
    char past(std::string_view end)
    {
        std::size_t found = text_.find(end, at_ + 2);
        to(found == text_.npos ? found : found + end.size());
        return ' ';
    }
    char raw()
    {
        std::size_t open = text_.find('(', at_);
        if (open == text_.npos || open - at_ > 20) {
            step();
            return 'R';
        }
        std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        return past(end);
    }
    char literal(char quote)
    {
        step();
        while (!ended() && text_[at_] != quote && text_[at_] != '\n') {
            if (text_[at_] == '\\') step();
            if (!ended()) step();
        }
        if (!ended() && text_[at_] == quote) step();
        return ' ';
    }
    char directive()
    {
        do {
            until("\n");
            if (at_ == 0 || text_[at_ - 1] != '\\') break;
            if (!ended()) step();
        } while (!ended());
        return ' ';
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool begins_ = true; // only blanks on this line so far
};

// Returns the first word before a parenthesis that is not an attribute.
std::string name_in(const std::string &head)
{
    static const std::set<std::string> attributes = {"__launch_bounds__", "alignas",  "__align__",
                                                     "__attribute__",     "requires", "decltype",
                                                     "__cluster_dims__"};
    for (std::size_t at = head.find('('); at != head.npos; at = head.find('(', at + 1)) {
        std::size_t end = at;
        while (end > 0 && std::isspace(static_cast<unsigned char>(head[end - 1]))) --end;
        std::size_t begin = end;
        while (begin > 0 && is_name_char(head[begin - 1])) --begin;
        std::string name = head.substr(begin, end - begin);
        if (!name.empty() && !attributes.contains(name)) return name;
    }
    return {};
}

// True if the text before a brace opens a scope that may contain functions.
bool opens_scope(const std::string &head)
{
    if (head.find('(') == head.npos)
        for (const char *word : {"namespace", "struct", "class", "union", "extern"})
            if (holds_word(head, word)) return true;
    return false;
}

} // namespace

std::vector<line_range> functions_of(std::string_view source)
{
    std::vector<line_range> found;
    std::string head; // text since the last `;` or brace
    int head_line = 0, inside = 0;
    scanner text(source);
    while (!text.ended()) {
        int line = text.line();
        char c = text.next();
        if (inside > 0) {
            inside += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (inside == 0) {
                if (head.find('(') != head.npos) found.push_back({head_line, line, name_in(head)});
                head.clear();
            }
        } else if (c == '{') {
            if (opens_scope(head))
                head.clear();
            else
                inside = 1;
        } else if (c == ';' || c == '}') {
            head.clear();
        } else if (!head.empty() || !std::isspace(static_cast<unsigned char>(c))) {
            if (head.empty()) head_line = line;
            head += c;
        }
    }
    return found;
}

std::vector<line_range> shown_lines(std::string_view source, const std::set<int> &noted)
{
    int lines = static_cast<int>(std::count(source.begin(), source.end(), '\n')) + 1;
    std::set<int> wanted;
    auto want = [&](int first, int last) {
        for (int l = std::max(first, 1); l <= std::min(last, lines); ++l) wanted.insert(l);
    };
    std::set<int> outside = noted;
    for (const line_range &f : functions_of(source)) {
        auto first = noted.lower_bound(f.first);
        if (first == noted.end() || *first > f.last) continue;
        want(f.first, f.first + 1);
        want(f.last, f.last);
        for (auto at = first; at != noted.end() && *at <= f.last; ++at) {
            want(std::max(*at - context, f.first), std::min(*at + context, f.last));
            outside.erase(*at);
        }
        int last = f.first;
        for (auto at = wanted.lower_bound(f.first); at != wanted.end() && *at <= f.last; ++at) {
            if (*at - last <= min_omitted_lines) want(last, *at);
            last = *at;
        }
    }
    for (int l : outside) want(l, l);
    std::vector<line_range> ranges;
    for (int l : wanted)
        if (!ranges.empty() && ranges.back().last == l - 1)
            ranges.back().last = l;
        else
            ranges.push_back({l, l, {}});
    return ranges;
}

} // namespace grading
