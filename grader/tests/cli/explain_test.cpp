// Tests the explanation of a case: its input, the shown lines, the width, and untrusted text.
#include "cli/explain/explanation.hpp"
#include "cli/support/html.hpp"
#include "tests/contains.hpp"
#include "text/source_view.hpp"

#include <doctest/doctest.h>

using namespace cli;
using grading::line_range;
using grading::shown_lines;

namespace {

constexpr const char *small_source = R"(// A submission.
#include <cstdio>
namespace {
// braces } in a comment, "and strings"
template <int n>
__global__ void scale(float *out, const float *in, int with_a_long_name, int and_another_one)
{
    const char *text = "} { \" //";
    int i = threadIdx.x;
    (void)text;
    (void)n;
    (void)with_a_long_name;
    (void)and_another_one;
    (void)'{';
    i += 0;
    i -= 0;
    i *= 1;
    out[i] = in[32 * i];
}
} // namespace
struct helper {
    void unused() { }
};
void launch(float *out, const float *in)
{
    scale<1><<<1, 32>>>(out, in, 1, 2);
}
)";

std::string sum(const char *what, int requests, int cost, int ideal)
{
    bool shared = std::string(what).rfind("shared", 0) == 0;
    return std::string("\"") + what + "\":{\"requests\":" + std::to_string(requests) + ",\"" +
           (shared ? "wavefronts" : "sectors") + "\":" + std::to_string(cost) + ",\"" +
           (shared ? "ideal_wavefronts" : "ideal_sectors") + "\":" + std::to_string(ideal) +
           ",\"bytes\":" + std::to_string(128 * requests) + "}";
}

// Counters of one kernel that loads 32 floats 128 bytes apart at a line of a file.
std::string counters(const std::string &kernel, const std::string &file, int line)
{
    std::string distances;
    for (int lane = 0; lane < 32; ++lane)
        distances += (lane ? "," : "") + std::to_string(128 * lane);
    std::string zeros = R"(,"shared_atomic":{"lanes":0})";
    for (const char *name : {"global_atomics", "atomic_requests", "atomic_same_address",
                             "constant_requests", "constant_addresses"})
        zeros += std::string(",\"") + name + "\":0";
    return R"({"a: case":{"function":"launch","counters":{"kernels":[{"kernel":)" +
           nlohmann::json(kernel).dump() +
           R"(,"launches":1,"blocks":1,"threads":32,"sectors_read":32,"sectors_written":4,)" +
           R"("sites":[{"file":)" + nlohmann::json(file).dump() +
           ",\"line\":" + std::to_string(line) + "," + sum("global_load", 1, 32, 4) + "," +
           sum("global_store", 1, 4, 4) + "," + sum("local_load", 0, 0, 0) + "," +
           sum("local_store", 0, 0, 0) + "," + sum("shared_load", 0, 0, 0) + "," +
           sum("shared_store", 0, 0, 0) + zeros +
           R"(,"worst":[{"kind":"global_load","bytes":4,"lanes":4294967295,"cost":32,"ideal":4,)" +
           R"("one_address":0,"first":4096,"where":"byte 0 of `in`","distances":[)" + distances +
           "]}]}]}]}}}";
}

lab_view result_of(const std::string &verdict)
{
    lab_view v;
    v.lab = "02_lab";
    case_view c;
    c.name = "a: case";
    c.verdict = verdict;
    c.message = "The message.";
    c.hint = "The hint.";
    v.cases.push_back(c);
    return v;
}

explanation usual(const std::string &verdict = "TOO_SLOW")
{
    return explain("02_lab", "labs/02_lab/stub.cu", small_source, result_of(verdict),
                   counters("scale<1>", "/somewhere/else/stub.cu", 18));
}

} // namespace

TEST_CASE("functions are found past comments, strings, templates and namespaces")
{
    std::vector<line_range> found = grading::functions_of(small_source);
    REQUIRE(found.size() == 3);
    CHECK(found[0].first == 5);
    CHECK(found[0].last == 19);
    CHECK(found[1].first == 22);
    CHECK(found[2].first == 24);
    CHECK(found[2].last == 27);
    CHECK(grading::functions_of("template <class K>\n__global__ void __launch_bounds__(256)\n"
                                "    place(K kept) { if (x) {} }\n")[0]
              .name == "place");
    // Source that does not parse as C++ has no functions, whatever its braces.
    for (const char *text : {"", "}", "{", "\"", "'", "/*", "R\"(", "#", "#define x \\", "f() {{"})
        CHECK(grading::functions_of(text).size() == 0);
}

TEST_CASE("of a function its head, its end and what is near are shown")
{
    auto ranges = shown_lines(small_source, {18});
    REQUIRE(ranges.size() == 2);
    CHECK(ranges[0].first == 5);
    CHECK(ranges[0].last == 6);
    CHECK(ranges[1].first == 15);
    CHECK(ranges[1].last == 19);
    CHECK(shown_lines(small_source, {}).empty());
    CHECK(shown_lines(small_source, {2}).size() == 1); // outside all functions
    CHECK(shown_lines(small_source, {9999}).empty());  // a worker may send any number
    CHECK(shown_lines(small_source, {-1, 0}).empty());
}

TEST_CASE("the text has the remark, the figures and the line, in 80 columns")
{
    std::string text = explanation_text(usual(), terminal{});
    CHECK(contains(text, "line 18, load: Each warp touches 32 sectors where 4 would do:"));
    CHECK(contains(text, "   18      out[i] = in[32 * i];\n"));
    CHECK(contains(text, "> load         1 request, 32 sectors, ideal 4\n"));
    CHECK(contains(text, "> store        1 request, 4 sectors, ideal 4\n"));
    CHECK(contains(text, "scale<1>"));
    CHECK(!contains(text, "void launch"));
    CHECK(!contains(text, "The message."));
    for (const std::string &line : lines(text)) CHECK_MESSAGE(columns(line) <= 80, line);
}

TEST_CASE("a case that went wrong says so, and what ran")
{
    std::string text = explanation_text(usual("WRONG_ANSWER"), terminal{});
    CHECK(contains(text, "The message."));
    CHECK(contains(text, "What ran until then:"));
    CHECK(contains(text, "line 18, load"));
    explanation none = explain("02_lab", "stub.cu", small_source, result_of("CRASH"), "{}");
    CHECK(contains(explanation_text(none, terminal{}), "No kernel ran"));
    CHECK(contains(explanation_page(none), "No kernel ran"));
}

TEST_CASE("a page marks code in sentences, tears no number and lists what is to be written")
{
    explanation e = usual("WRONG_ANSWER");
    e.cases[0].message = "`out` <b> has 65 536 elements; a ` alone stays";
    explanation to_do = explain("02_lab", "stub.cu", small_source, result_of("NOT_WRITTEN"), "{}");
    e.cases.push_back(to_do.cases[0]);
    std::string page = explanation_page(e);
    CHECK(contains(page, "<code>out</code> &lt;b&gt; has 65&#8239;536 elements; a ` alone stays"));
    CHECK(contains(page, "<h2>Not written yet</h2>\n<ul class=\"faint\">\n<li>"));
    CHECK(!contains(page, "No kernel ran"));
}

TEST_CASE("streams stand before sectors where several are at work")
{
    explanation e = usual();
    stream_timeline &t = e.cases[0].counts.timeline;
    for (const char *lane : {"stream 1", "stream 2"}) {
        t.steps.emplace_back().kind = step_kind::kernel;
        t.steps.back().stream = lane;
        t.ticks = t.steps.back().end = 10;
    }
    auto first = [](const std::string &text, const char *what, const char *other) {
        return text.find(what) < text.find(other);
    };
    CHECK(first(explanation_text(e, terminal{}), "Streams, in ticks", "32 sectors"));
    CHECK(first(explanation_page(e), "Streams", "32 sectors"));
    t.steps[1].stream = "stream 1";
    t.steps[0].kind = t.steps[1].kind = step_kind::copy;
    t.steps.emplace_back(t.steps[1]).kind = step_kind::kernel; // the others are short copies
    CHECK(first(explanation_text(e, terminal{}), "32 sectors", "Streams, in ticks"));
    CHECK(first(explanation_page(e), "32 sectors", "Streams"));
}

TEST_CASE("lines of other files are listed apart")
{
    explanation e = explain("02_lab", "stub.cu", small_source, result_of("PASS"),
                            counters("scale", "/usr/include/block_scan.cuh", 18));
    std::string text = explanation_text(e, terminal{});
    CHECK(contains(text, "block_scan.cuh:18"));
    CHECK(!contains(text, "out[i]"));
    CHECK(contains(explanation_page(e), "block_scan.cuh:18"));
}

TEST_CASE("a case with the lines of one before it refers to it")
{
    explanation e = usual();
    e.command = "./workbook explain 02";
    e.cases.push_back(e.cases[0]);
    e.cases[1].name = "b: it's another";
    std::string text = explanation_text(e, terminal{});
    CHECK(text.find("out[i]") == text.rfind("out[i]"));
    CHECK(contains(text, "./workbook explain 02 --case "));
    CHECK(shown_before(e, e.cases[1]));
    CHECK(!shown_before(e, e.cases[0]));
}

TEST_CASE("a page holds no tag and no reference of a stranger's")
{
    const char *evil = "</style><script>alert(1)</script><img src=x onerror='a'>\"&";
    explanation e = explain(evil, evil, std::string("void f()\n{ // ") + evil + "\n}\n",
                            result_of(evil), counters(evil, evil, 2));
    e.cases[0].name = e.cases[0].message = e.cases[0].hint = evil;
    std::string page = explanation_page(e);
    CHECK(!contains(page, "<script"));
    CHECK(!contains(page, "<img"));
    CHECK(page.find("</style>") == page.rfind("</style>"));
    CHECK(contains(page, "&lt;script&gt;"));
    CHECK(escaped("<a href=\"x\">&'\x1b") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;?");
    for (const char *outside : {"http:", "https:", "url(", "@import", "<link", "src="})
        CHECK_MESSAGE(!contains(explanation_page(usual()), outside), outside);
}

TEST_CASE("a page has the source, the remark and the picture of the worst access")
{
    std::string page = explanation_page(usual());
    CHECK(contains(page, "out[i] = in[32 * i];"));
    CHECK(contains(page, "neighbouring threads read addresses 128 bytes apart"));
    CHECK(contains(page, "Global memory: the worst access"));
    CHECK(!contains(page, "Shared memory:"));
    std::size_t asks = 0;
    for (std::size_t at = page.find("class=\"asks\""); at != page.npos;
         at = page.find("class=\"asks\"", at + 1))
        ++asks;
    CHECK(asks == 32);
}

TEST_CASE("broken counters are refused")
{
    for (const char *text :
         {"", "[", "[]x", R"({"a":{}})", R"({"a":{"function":1,"counters":{"kernels":[]}}})"})
        CHECK_THROWS(read_counters(text));
    std::string good = counters("k", "f", 1);
    CHECK(read_counters(good).size() == 1);
    for (auto [from, to] : {std::pair("\"lanes\":4294967295", "\"lanes\":7"),
                            std::pair("\"bytes\":4,", "\"bytes\":5,"),
                            std::pair("\"kind\":\"global_load\"", "\"kind\":\"global\""),
                            std::pair("\"requests\":1,", "\"requests\":-1,")}) {
        std::string bad = good;
        std::size_t at = bad.find(from);
        REQUIRE(at != bad.npos);
        CHECK_THROWS(read_counters(bad.replace(at, std::string(from).size(), to)));
    }
}
