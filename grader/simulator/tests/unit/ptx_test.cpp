// The PTX parser: output of nvcc, scopes of inline assembly, initialisers and damaged text.
#include "simulator/tests/fixture.hpp"

#include "simulator/ptx/ptx.hpp"

#include <doctest/doctest.h>
#include <random>

using namespace simulator;
using namespace simulator::tests;
using kind = ptx::operand::kind;

namespace {

const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";

ptx::body body_of(const std::string &text)
{
    static ptx::module_text m;
    m = ptx::parse_module(head + ".entry k()\n{\n" + text + "\n}\n");
    return ptx::parse_body(*m.find("k"));
}

std::string error_of(const std::string &text)
{
    try {
        auto m = ptx::parse_module(text);
        for (const auto &f : m.functions)
            if (f.defined) ptx::parse_body(f);
    } catch (const std::runtime_error &e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("everything nvcc wrote for the test kernels is understood")
{
    auto m = ptx::parse_module(kernels_ptx());
    CHECK(m.files.at(1) == "kernels.cu");
    const auto *f = m.find("vector_add");
    REQUIRE(f != nullptr);
    CHECK(f->entry);
    REQUIRE(f->parameters.size() == 4);
    CHECK(f->parameters[0].bytes == 8);
    CHECK(f->parameters[3].type == ptx::type::u32);
    std::size_t statements = 0;
    for (const auto &g : m.functions)
        if (g.defined) statements += ptx::parse_body(g).statements.size();
    CHECK(statements > 500);
}

TEST_CASE("operands of every kind")
{
    auto b = body_of(".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<3>; .reg .pred %p<3>;\n"
                     "ld.global.v2.u32 {%r1, _}, [%rd1+-8];\n"
                     "@!%p1 setp.lt.and.s32 %p1|%p2, %r1, -5, !%p2;\n"
                     "mov.f32 %f1, 0f3F800000;\n mov.f64 %rd2, 0d4000000000000000;\n"
                     "mov.u32 %r2, %tid.x;\n mov.u32 %r3, 0xFFU;\n st.shared.u32 [there+4], %r3;");
    REQUIRE(b.statements.size() == 7);
    const auto &ld = b.statements[0];
    CHECK(ld.opcode() == "ld.global.v2.u32");
    CHECK(ld.operands[0].what == kind::vector);
    CHECK(ld.operands[0].elements[1].what == kind::discard);
    CHECK(ld.operands[1].what == kind::address);
    CHECK(static_cast<std::int64_t>(ld.operands[1].bits) == -8);
    const auto &setp = b.statements[1];
    CHECK(setp.guard_negated);
    CHECK(setp.paired);
    CHECK(setp.operands.size() == 5);
    CHECK(static_cast<std::int64_t>(setp.operands[3].bits) == -5);
    CHECK(setp.operands[4].negated);
    CHECK(b.statements[2].operands[1].bits == 0x3f800000);
    CHECK(b.statements[3].operands[1].real == 'd');
    CHECK(b.statements[4].operands[1].name == "tid.x");
    CHECK(b.statements[5].operands[1].bits == 255);
    CHECK(b.statements[6].operands[0].name == "there");
    CHECK(b.statements[6].operands[0].bits == 4);
}

TEST_CASE("constants are expressions, in which WARP_SZ is 32")
{
    const std::pair<const char *, std::int64_t> rows[] = {
        {"WARP_SZ", 32},
        {"-WARP_SZ", -32},
        {"WARP_SZ*4-1", 127},
        {"(WARP_SZ + 1) * 2", 66},
        {"1 + 2 * 3 << 2", 28},
        {"WARP_SZ % 5", 2},
        {"-7 / 2", -3},
        {"-1 >> 63", -1},
        {"0xffffffffffffffffU >> 63", 1},
        {"-1 < 1", 1},
        {"(.u64) -1 < 1", 0},
        {"6 & 3 | 8 ^ 1", 11},
        {"1 && 0 || 2 == 2", 1},
        {"~0", -1},
        {"WARP_SZ >= 32 ? 5 : 6", 5},
        {"1 << 64", 0},
    };
    for (const auto &[row, expected] : rows) {
        auto text = row; // clang before version 16 cannot capture structured bindings
        CAPTURE(text);
        auto b = body_of(std::string(".reg .b64 %rd<3>; mov.u64 %rd1, ") + text +
                         "; ld.global.u32 _, [%rd1+" + text + "];");
        REQUIRE(b.statements.size() == 2);
        CHECK(b.statements[0].operands[1].what == kind::immediate);
        CHECK(static_cast<std::int64_t>(b.statements[0].operands[1].bits) == expected);
        CHECK(static_cast<std::int64_t>(b.statements[1].operands[1].bits) == expected);
    }
    auto m = ptx::parse_module(head + ".global .u32 a[WARP_SZ * 2] = {WARP_SZ, (1 + 2), -5};\n"
                                      ".entry k() .maxntid WARP_SZ, 2 { ret; }\n");
    CHECK(m.variables[0].bytes == 256);
    CHECK(m.variables[0].values[0].bits == 32);
    CHECK(m.variables[0].values[1].bits == 3);
    CHECK(m.functions[0].max_threads == 64);
    for (const char *wrong : {"1 / 0", "0f3F800000 + 1", "(1", "1 +", "WARP_SIZE + 1.5"}) {
        const std::string k = head + ".global .u64 x = " + wrong + ";\n";
        CHECK_MESSAGE(error_of(k).find("PTX line 4") == 0, wrong);
    }
    CHECK(error_of(head + ".global .u64 x = " + std::string(100000, '-') + "1;\n") ==
          "PTX line 4: a constant of more than 1000 parts");
}

TEST_CASE("names in braces hide those outside, labels too")
{
    auto b = body_of(
        ".reg .b32 %r<3>;\nmov.u32 %r1, 1;\n{ .reg .b32 %r1, x; mov.u32 %r1, 2; L: bra L; }\n"
        "L: mov.u32 %r1, 3; bra L;");
    REQUIRE(b.statements.size() == 5);
    CHECK(b.statements[0].operands[0].id == b.statements[3].operands[0].id);
    CHECK(b.statements[0].operands[0].id != b.statements[1].operands[0].id);
    CHECK(b.statements[2].targets == std::vector<int>{2});
    CHECK(b.statements[4].targets == std::vector<int>{3});
}

TEST_CASE("branch tables")
{
    auto b =
        body_of(".reg .b32 %r<2>;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: ret;\nB: ret;");
    REQUIRE(b.statements.size() == 3);
    CHECK(b.statements[0].targets == std::vector<int>{1, 2});
}

TEST_CASE("places know where they were inlined")
{
    auto b = body_of(".reg .b32 %r<2>;\n.loc 1 10 3\nmov.u32 %r1, 1;\n.loc 2 99 1, function_name "
                     "$L__info_string0, "
                     "inlined_at 1 10 3\nmov.u32 %r1, 2;");
    const auto &p = b.locations.at(b.statements[1].location);
    CHECK(p.line == 99);
    CHECK(b.locations.at(p.parent).line == 10);
}

TEST_CASE("variables with values and addresses of others")
{
    module m(head + ".global .align 4 .u32 a[3] = {1, 0x10, 5};\n.global .u64 at = generic(a)+8;\n"
                    ".const .f32 pi = 0f40490FDB;\n.global .align 8 .b8 room[24];\n",
             0);
    auto &memory = memory::instance();
    const auto *a = m.find_variable("a"), *at = m.find_variable("at"),
               *room = m.find_variable("room");
    REQUIRE((a && at && room && m.find_variable("pi")));
    CHECK(room->bytes == 24);
    std::uint64_t pointer;
    std::memcpy(&pointer, memory.at(at->start), 8);
    CHECK(pointer == a->start + 8);
    std::uint32_t third;
    std::memcpy(&third, memory.at(pointer), 4);
    CHECK(third == 5);
    CHECK(m.find_variable("none") == nullptr);
    CHECK((*memory.shadow_at(m.find_variable("pi")->start) & read_only) != 0);
}

TEST_CASE("variables in a list have one type")
{
    auto m = ptx::parse_module(head + ".global .align 8 .u32 a, b[3] = {1, 2, 3};\n");
    REQUIRE(m.variables.size() == 2);
    CHECK(m.variables[0].bytes == 4);
    CHECK(m.variables[1].bytes == 12);
    CHECK(m.variables[1].align == 8);
    CHECK(m.variables[1].values.size() == 3);
    auto b = body_of(".local .b16 x[4], y;");
    REQUIRE(b.variables.size() == 2);
    CHECK(b.variables[0].bytes == 8);
    CHECK(b.variables[1].name == "y");
    CHECK(b.variables[1].bytes == 2);
}

TEST_CASE("broken texts are refused with line and cause")
{
    CHECK(error_of("int main() {}") == "PTX line 1: expected .version: this is not PTX");
    CHECK(error_of("") != "");
    CHECK(error_of(head + ".entry k()\n{\nmov.u32 %r1, 1;").find("brace is never closed") !=
          std::string::npos);
    CHECK(error_of(head + ".entry k() {\nbra nowhere;\n}") == "PTX line 5: no label nowhere");
    CHECK(error_of(head + ".entry k() {\n@%p1 ret;\n}") == "PTX line 5: unknown predicate %p1");
    CHECK(error_of(head + ".entry k() {\n.reg .b32 %r1;\n@%r1 ret;\n}") ==
          "PTX line 6: unknown predicate %r1");
    CHECK(error_of(head + ".entry k() {\n.reg .q32 %r1;\n}").find("PTX line 5") == 0);
    CHECK(error_of(head + ".global .u32 x = {1;").find("PTX line 4") == 0);
    CHECK(error_of(head + "nonsense;").find("PTX line 4") == 0);
    CHECK_THROWS_AS(module(head + ".global .u32 x[1] = {1, 2};", 0), std::runtime_error);
    CHECK_THROWS_AS(module(head + ".global .u64 x = nobody;", 0), std::runtime_error);
}

TEST_CASE("alignments, sizes and nesting without bounds are refused in words")
{
    auto refused = [](const std::string &text, const std::string &why) {
        CAPTURE(text.substr(0, 100));
        const std::string said = error_of(head + text);
        CHECK_MESSAGE(said.find(why) != std::string::npos, said);
    };
    for (const std::string align : {"0", "3", "4294967295", "4294967296", "1073741824"}) {
        refused(".global .align " + align + " .u32 x;", "an alignment of " + align);
        refused(".entry k(.param .align " + align + " .b64 a)\n{ ret; }", "power of two");
        refused(".entry k()\n{ .param .align " + align + " .b8 p[64]; ret; }", "power of two");
    }
    refused(".global .b8 x[4294967296][4294967296];", "x is larger than any memory");
    refused(".entry k()\n{ .shared .b64 x[2305843009213693953]; ret; }", "larger than any memory");
    refused(".entry k()\n{ .reg .b32 %r<900000>, %s<900000>; ret; }", "too many registers");
    refused(".entry k()\n{ mov.b32 " + std::string(100'000, '[') + "x; }", "an operand within 16");
    refused(".entry k()\n{ mov.b32 " + std::string(100'000, '{') + "x" + std::string(100'000, '}') +
                "; }",
            "an operand within 16");
    CHECK(error_of(head + ".shared .align 1024 .b8 x[64];") == "");
}

TEST_CASE("areas are bounded before anything is placed in them")
{
    auto refused = [](const std::string &text, const std::string &why) {
        CAPTURE(text);
        try {
            module m(head + text, 0);
            m.find_kernel("k");
            FAIL_CHECK("it was taken");
        } catch (const ptx::refused &e) {
            const std::string said = e.what();
            CHECK_MESSAGE(said.find(why) != std::string::npos, said);
        }
    };
    auto entry = [](const std::string &inside) { return ".entry k()\n{ " + inside + " ret; }"; };
    refused(entry(".shared .b8 x[65536]; mov.u32 %r1, x;"),
            "65536 bytes, and at most 49152 are allowed: 16384 too many");
    refused(".shared .b8 x[30000];\n.shared .b8 y[30000];\n" +
                entry(".reg .b32 %r<2>; mov.u32 %r1, x; mov.u32 %r1, y;"),
            "60000 bytes, and at most 49152");
    refused(entry(".shared .b8 x[4294967296]; .shared .b8 y[64];"), "uses too much shared memory");
    refused(".const .b8 x[40000];\n.const .b8 y[40000];\n" + entry(""),
            "80000 bytes, and at most 65536 are allowed: 14464 too many");
    refused(entry(".local .b8 x[524289];"), "524289 bytes, and 524288 is the most");
    refused(entry(".local .b8 x[4294967296];"), "4294967296 bytes");
    refused(".entry k(.param .b8 a[32760], .param .b64 b)\n{ ret; }", "32768 bytes, and 32764");
    refused(".entry k(.param .b8 a[4294967296])\n{ ret; }", "more parameters");
    refused(entry(".param .b8 a[4294967296];"), "more parameters and arguments of calls");
    refused(entry(".param .b8 a[40000]; .param .b8 b[40000];"), "80000 bytes, and 65536");
    module most(head + ".const .b8 c[65536];\n.entry k(.param .b8 a[32760])\n{ .shared .b8 "
                       "x[49152]; .local .b8 y[524288]; ret; }",
                0);
    REQUIRE(most.find_kernel("k") != nullptr);
    CHECK(most.find_kernel("k")->static_shared == 49152);
    CHECK(most.find_kernel("k")->parameter_bytes == 32760);
}

TEST_CASE("texts damaged at random end in an error or are understood, never worse")
{
    std::string whole = kernels_ptx();
    whole = whole.substr(0, whole.find(".section"));
    std::mt19937 random(1);
    int refused = 0;
    for (int round = 0; round < 150; ++round) {
        std::string text = whole;
        for (int k = 0; k < 3; ++k) {
            std::size_t at = random() % text.size(), length = 1 + random() % 20;
            if (round % 3 == 0)
                text.erase(at, length);
            else if (round % 3 == 1)
                text[at] = static_cast<char>(32 + random() % 95);
            else
                text = text.substr(0, text.size() - random() % (text.size() / 4));
        }
        try {
            module m(text, 0);
            for (const auto &name : m.kernels()) m.find_kernel(name);
        } catch (const std::runtime_error &) {
            ++refused;
        }
    }
    CHECK(refused > 50);
}
