// Splits PTX text into tokens, and declares the readers of constants.
#pragma once

#include "ptx.hpp"

#include <cstddef>
#include <stdexcept>

namespace simulator::ptx {

[[noreturn]] inline void fail(int line, const std::string &what)
{
    throw std::runtime_error("PTX line " + std::to_string(line) + ": " + what);
}

// Like fail(), but for PTX that is invalid or beyond a limit.
[[noreturn]] inline void refuse(int line, const std::string &what)
{
    throw refused("PTX line " + std::to_string(line) + ": " + what);
}

inline bool word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

// A word keeps its dots ("ld.global.f32", "%tid.x", ".reg"); any other token is one character or a
// string.
class lexer {
public:
    lexer(std::string_view text, int line) : text_(text), line_(line) { advance(); }

    std::string_view token() const { return token_; }
    int line() const { return token_line_; }
    bool done() const { return token_.empty(); }
    bool at(std::string_view t) const { return token_ == t; }
    std::size_t offset() const { return static_cast<std::size_t>(token_.data() - text_.data()); }
    std::string_view rest() const { return done() ? token_ : text_.substr(offset()); }

    std::string_view take()
    {
        if (done()) fail(line_, "the text ends too early");
        auto t = token_;
        advance();
        return t;
    }
    // Takes `.param` of `.param.u64`: hand-written PTX omits the space.
    std::string_view take_directive()
    {
        const auto dot = token_.find('.', 1);
        if (dot == token_.npos) return take();
        const auto first = token_.substr(0, dot);
        token_.remove_prefix(dot);
        return first;
    }
    bool accept(std::string_view t)
    {
        if (!at(t)) return false;
        advance();
        return true;
    }
    void expect(std::string_view t)
    {
        if (!accept(t))
            fail(token_line_,
                 "expected `" + std::string(t) + "` before `" + std::string(token_) + "`");
    }
    // Moves past the brace that closes the one just taken; returns the text between them.
    std::string_view take_braces()
    {
        auto start = token_.empty() ? text_.size() : offset();
        for (int depth = 1; depth > 0;) {
            if (done()) fail(line_, "a brace is never closed");
            auto end = offset();
            auto t = take();
            if (t == "{") ++depth;
            if (t == "}" && --depth == 0) return text_.substr(start, end - start);
        }
        return {};
    }

private:
    void skip_space()
    {
        while (position_ < text_.size()) {
            char c = text_[position_];
            if (c == '\n') ++line_;
            if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
                ++position_;
            } else if (text_.substr(position_, 2) == "//") {
                while (position_ < text_.size() && text_[position_] != '\n') ++position_;
            } else if (text_.substr(position_, 2) == "/*") {
                auto end = text_.find("*/", position_ + 2);
                if (end == text_.npos) fail(line_, "a comment is never closed");
                for (; position_ < end + 2; ++position_) line_ += text_[position_] == '\n';
            } else {
                return;
            }
        }
    }
    void advance()
    {
        skip_space();
        token_line_ = line_;
        auto start = position_;
        if (position_ >= text_.size()) {
            token_ = {};
        } else if (text_[position_] == '"') {
            auto end = text_.find('"', position_ + 1);
            if (end == text_.npos) fail(line_, "a string is never closed");
            position_ = end + 1;
            token_ = text_.substr(start, position_ - start);
        } else if (word_character(text_[position_])) {
            while (position_ < text_.size() &&
                   (word_character(text_[position_]) || text_.substr(position_, 2) == "::"))
                position_ += text_[position_] == ':' ? 2 : 1;
            token_ = text_.substr(start, position_ - start);
        } else {
            token_ = text_.substr(position_++, 1);
        }
    }

    std::string_view text_;
    std::size_t position_ = 0;
    int line_, token_line_ = 0;
    std::string_view token_;
};

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True if the token begins a constant. "(" may do so, too; a caller tests for it where it has no
// other meaning.
bool starts_number(const lexer &);

// Takes a constant, or an expression of integers such as `WARP_SZ * 4 - 1`. `real` receives 'f' or
// 'd' for a floating constant, which may have signs and parentheses but no other operators, and 0
// for an integer; if `real` is null, a floating constant is an error.
std::uint64_t take_number(lexer &, char *real = nullptr);
// Takes an integer literal, not an expression: in `%r<9>`, `>` is no operator.
std::uint64_t take_count(lexer &);

} // namespace simulator::ptx
