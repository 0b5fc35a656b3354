// Tests that a submission's output can break no result file, and what result.json says of gates.
#include "runner/case_record.hpp"

#include <nlohmann/json.hpp>

#include <random>
#include <utility>

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
        // dump throws if text is not UTF-8.
        std::string text = nlohmann::json(shown).dump();
        CHECK(nlohmann::json::parse(text).get<std::string>() == shown);
        for (unsigned char c : shown) CHECK((c >= 0x20 || c == '\t'));
    }
}

TEST_CASE("a gate below naive's own speed, or one that says so, is one that naive may pass")
{
    auto kept = std::exchange(records(), std::vector<case_record>(4));
    double required[] = {0, 0.6, 1, 0};
    for (std::size_t i = 0; i < 4; ++i) {
        records()[i].name = "gather: speed";
        records()[i].started = true;
        records()[i].speed.emplace();
        records()[i].speed->required = required[i];
        records()[i].speed->naive_may_pass = i == 3;
    }
    auto cases = nlohmann::json::parse(result_json())["labs"][0]["cases"];
    CHECK_FALSE(cases[0].contains("naive_may_pass"));
    CHECK(cases[1]["naive_may_pass"] == true);
    CHECK_FALSE(cases[2].contains("naive_may_pass"));
    CHECK(cases[3]["naive_may_pass"] == true);
    records() = std::move(kept);
}
