// The terminal while a program reads single keys: set for it, and given back however it ends.
#pragma once

#include <optional>
#include <string>
#include <termios.h>

namespace cli {

// The keys in what a terminal sends, piece by piece: the bytes of a key that is none of the plain
// ones are dropped, also where they come one by one.
class key_filter {
public:
    std::string plain(const std::string &bytes);

private:
    enum { text, escape, sequence } in_ = text;
};

// Keys come one by one and are not shown; Ctrl-C and Ctrl-Z still act. Also gives the terminal back
// while the program is stopped by Ctrl-Z.
class key_reader {
public:
    explicit key_reader(int descriptor); // a terminal; throws machine_error
    ~key_reader();
    key_reader(const key_reader &) = delete;

    // What was typed and waits, without blocking; none: the terminal is gone. Keys that send more
    // than one character, arrows for instance, are left out.
    std::optional<std::string> typed();
    // Whether the window has a new size, or the program was stopped and goes on: draw all again.
    bool disturbed();

private:
    void take();
    void give_back();
    int descriptor_;
    termios before_{};
    key_filter filter_;
};

} // namespace cli
