// Tests text for terminals: wrapping, escaping, bars.
#include "cli/terminal/text.hpp"

#include <doctest/doctest.h>

using namespace cli;

TEST_CASE("text wraps at blanks, keeps line ends and leading blanks, and cuts no word")
{
    CHECK(wrapped("one two three", 9, 2) == "one two\n  three");
    CHECK(wrapped("a\n    b c", 80, 2) == "a\n      b c");
    CHECK(wrapped("averyverylongword b", 8, 0) == "averyverylongword\nb");
    CHECK(wrapped("", 80, 2) == "");
    CHECK(wrapped("äöü äöü", 7, 0) == "äöü äöü");
}

TEST_CASE("other people's text loses escapes, controls and broken UTF-8")
{
    CHECK(sanitized("plain\n\ttext", 100) == "plain\n    text");
    CHECK(sanitized("\x1b[31mred\x07", 100) == "?[31mred?");
    CHECK(sanitized("a\r\nb\rc", 100) == "a\nb?c");
    CHECK(sanitized("\xff\xc0\xaf é", 100) == "??? é");
    CHECK(sanitized("\xe2\x80\xae"
                    "right to left",
                    100)
              .find("\xe2\x80\xae") == std::string::npos);
    CHECK(sanitized(std::string("nul\0x", 5), 100) == "nul?x");
    std::string cut = sanitized(std::string(1000, 'x'), 100);
    CHECK(cut.size() < 150);
    CHECK(cut.find("[cut: ") != std::string::npos);
    CHECK(sanitized("\xc3", 100) == "?");
}

TEST_CASE("bars are in proportion and never vanish or overflow")
{
    terminal plain, rich;
    rich.utf8 = true;
    CHECK(bar(plain, 0.5, 10) == "#####");
    CHECK(bar(plain, 0.0001, 10) == "#");
    CHECK(bar(plain, 0, 10) == "");
    CHECK(bar(plain, 7, 10) == "##########");
    CHECK(bar(plain, 0.0 / 0.0 * 1, 10) == "");
    CHECK(bar(rich, 0.55, 10) == "█████▌");
    CHECK(columns(bar(rich, 1, 10)) == 10);
}

TEST_CASE("near misses")
{
    CHECK(nearest("grad", {"demo", "grade", "doctor"}) == "grade");
    CHECK(nearest("--jsn", {"--json", "--seed"}) == "--json");
    CHECK(nearest("grdae", {"demo", "grade", "doctor"}) == "grade"); // swapped letters
    CHECK(nearest("rgaed", {"demo", "grade", "doctor"}) == "");      // two pairs swapped
    CHECK(nearest("xyzzy", {"demo", "grade"}) == "");
}

TEST_CASE("a word for a shell is quoted where it must be")
{
    CHECK(shell_word("/home/me/a-1.cu") == "/home/me/a-1.cu");
    CHECK(shell_word("my dir/a.cu") == "'my dir/a.cu'");
    CHECK(shell_word("it's") == "'it'\\''s'");
    CHECK(shell_word("$HOME") == "'$HOME'");
    CHECK(shell_word("") == "''");
}

TEST_CASE("a compiler's words fit the terminal, and its marks stay below what they mean")
{
    std::string said = "a.cu(3): error: identifier \"y\" is undefined\n" + std::string(8, ' ') +
                       "int n = " + std::string(100, 'x') + " + y;\n" + std::string(119, ' ') +
                       "^\n\n1 error detected in the compilation of \"a.cu\".\n";
    std::vector<std::string> shown = lines(compiler_words(said, 80));
    REQUIRE(shown.size() == 3);
    CHECK(shown[0] == "  a.cu(3): error: identifier \"y\" is undefined");
    CHECK(shown[1].rfind("  ...xxx", 0) == 0);
    REQUIRE(shown[2].find('^') < 80);
    CHECK(shown[1][shown[2].find('^')] == 'y');

    std::string many;
    for (int i = 0; i < 100; ++i)
        many += "a.cu(1): error: " + std::string(50, 'e') + " and more words\n";
    shown = lines(compiler_words(many, 60));
    CHECK(shown.back() == "  [76 lines more]");
    for (const std::string &line : shown) CHECK(columns(line) <= 60);
    CHECK(compiler_words("", 80) == "");

    const std::string error =
        "a.cu(4): error: no instance of \"cudaMalloc\"\n  cudaMalloc(x, 4);\n  ^\n";
    const std::string notes =
        "cuda_runtime_api.h(4581): note #3326-D: function \"cudaMalloc(void **, size_t)\" does not "
        "match because argument #1 does not match parameter\n  cudaError_t cudaMalloc(void **);\n  "
        "^\n";
    CHECK(compiler_words(error + notes, 80) == compiler_words(error, 80));
}
