// Sets the terminal up for reading single keys, and restores it however the program ends.
#pragma once

#include <optional>
#include <string>
#include <termios.h>

namespace cli {

// Extracts the plain keys from a terminal's byte stream. The escape sequences of other keys are
// dropped, even if they arrive split over several reads.
class key_filter {
public:
    std::string plain(const std::string &bytes);

private:
    enum { text, escape, sequence } in_ = text;
};

// Delivers keys one by one, without echo; Ctrl-C and Ctrl-Z still work. The terminal is also
// restored while the program is stopped by Ctrl-Z.
class key_reader {
public:
    explicit key_reader(int descriptor); // a terminal; throws machine_error
    ~key_reader();
    key_reader(const key_reader &) = delete;

    // Returns the keys typed since the last call, without blocking; nullopt if the terminal is
    // gone. Keys that send more than one character, such as arrows, are left out.
    std::optional<std::string> typed();
    // True if the window was resized, or the program was stopped and continued: redraw everything.
    bool disturbed();

private:
    void set_key_mode();
    void restore();
    int descriptor_;
    termios before_{};
    key_filter filter_;
};

} // namespace cli
