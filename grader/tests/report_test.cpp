// What a submission prints can neither break a result file nor pose as the grader's own words.
#include "../report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

using namespace grading;

TEST_CASE("control characters are shown as numbers")
{
    CHECK(printable("plain \tt\xc3\xa9xt") == "plain \tt\xc3\xa9xt");
    CHECK(printable("\x1b[2Jgone") == "\\x1b[2Jgone");
    CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
    CHECK(printable("line\nfeed") == "line\\x0afeed");
}

TEST_CASE("invalid UTF-8 and direction overrides are shown as numbers")
{
    CHECK(printable("\xff\xfe") == "\\xff\\xfe");
    CHECK(printable("\xc3") == "\\xc3");                   // cut off
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");          // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80"); // a surrogate
    CHECK(printable("\xe2\x80\xae"
                    "abc") == "\\u{202e}abc");
    CHECK(printable("\xc2\x85") == "\\u{85}");
}

TEST_CASE("any bytes make a string that JSON takes as it is")
{
    std::mt19937 random(5);
    for (int trial = 0; trial < 10000; ++trial) {
        std::string bytes(random() % 64, ' ');
        for (char &c : bytes) c = static_cast<char>(random());
        std::string shown = printable(bytes);
        // Strict: dump throws for text that is not UTF-8.
        std::string text = nlohmann::json(shown).dump();
        CHECK(nlohmann::json::parse(text).get<std::string>() == shown);
        for (unsigned char c : shown) CHECK((c >= 0x20 || c == '\t'));
    }
}

TEST_CASE("a TODO is found by the case it names, else by the function")
{
    auto path =
        std::filesystem::temp_directory_path() / ("stub_" + std::to_string(getpid()) + ".cu");
    {
        std::ofstream file(path);
        file << "// TODO 1 (first): do it.\nint x;\n    // TODO 2 (second): and this.\n"
                "// TODO 3 (first: with speed): later.\n";
    }
    CHECK(todo_of(path, "first", "first: small") == 1);
    CHECK(todo_of(path, "first", "first: with speed") == 3);
    CHECK(todo_of(path, "second", "second: small") == 2);
    CHECK(todo_of(path, "third", "third: small") == 0);
    CHECK(todo_of("/nonexistent", "first", "first: small") == 0);
    std::filesystem::remove(path);
}

TEST_CASE("that races went unwatched is noted once, however many cases it befell")
{
    auto kept = std::exchange(records(), std::vector<case_record>(3));
    for (std::size_t i = 0; i < 3; ++i) {
        records()[i].name = "add: case " + std::to_string(i);
        records()[i].started = true;
    }
    CHECK(human_report(false).find("races") == std::string::npos);
    records()[1].unwatched = records()[2].unwatched = "add_all";
    std::string text = human_report(false);
    std::size_t at = text.find("Note: races were looked for in a part of kernel add_all only");
    CHECK(at != std::string::npos);
    CHECK(text.find("in 2 cases") != std::string::npos);
    CHECK(text.find("add: case 1") != std::string::npos);
    CHECK(text.find("Note:", at + 1) == std::string::npos);
    auto cases = nlohmann::json::parse(result_json())["labs"][0]["cases"];
    CHECK_FALSE(cases[0].contains("races_partly_unwatched"));
    CHECK(cases[1]["races_partly_unwatched"] == "add_all");
    records() = std::move(kept);
}
