// Fat binaries, whole and broken, and the merging of separately compiled PTX.
#include <doctest/doctest.h>

#include "simulator/ptx/fatbin.hpp"
#include "simulator/ptx/link_ptx.hpp"
#include "simulator/tests/images.hpp"

#include <fatbinary_section.h>
#include <random>

using namespace simulator;
using namespace simulator::tests;

namespace {

const std::string ptx_80 = "\n\n.version 9.0\n.target sm_80\n.address_size 64\n// eighty\n";
const std::string ptx_75 = "\n\n.version 9.0\n.target sm_75\n.address_size 64\n// seventy-five\n";

std::string problem(const std::vector<std::byte> &bytes)
{
    try {
        ptx_of_image(bytes, 80);
    } catch (const std::runtime_error &e) {
        return e.what();
    }
    return {};
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

std::size_t times(const std::string &text, const std::string &part)
{
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
}

} // namespace

TEST_CASE("the PTX for the newest architecture that is not too new is taken")
{
    CHECK(has(ptx_of_image(image({{1, 80, ptx_80}}), 80), "eighty"));
    const auto both = image({{1, 75, ptx_75},
                             {2, 80,
                              "\x7f"
                              "ELF code"},
                             {1, 80, ptx_80}});
    CHECK(has(ptx_of_image(both, 80), "eighty"));
    CHECK(has(ptx_of_image(both, 79), "seventy-five"));
    const std::string text = ptx_of_image(image({{1, 80, ptx_80 + std::string(5, '\0')}}), 80);
    CHECK(text.back() == '\n');
}

TEST_CASE("what cannot be used is refused with the way to compile it")
{
    CHECK(has(problem(image({{1, 90, ptx_80}})), "compute_90"));
    CHECK(has(problem(image({{2, 80, "code"}})), "machine code only"));
    CHECK(has(problem(image({})), "machine code only"));
    entry packed{1, 80, ptx_80};
    packed.compressed_size = 40;
    CHECK(has(problem(image({packed})), "compressed"));
    CHECK(has(problem(image({packed})), "-no-compress"));
    entry flagged{1, 80, ptx_80};
    flagged.flags = 0x8011;
    CHECK(has(problem(image({flagged})), "compressed"));
}

TEST_CASE("no cut and no changed byte makes a reader leave the image")
{
    const auto whole = image({{2, 80, "machine"}, {1, 80, ptx_80}});
    for (std::size_t n = 0; n < whole.size(); ++n) {
        // A buffer of exact size lets an address sanitizer see reads past the end.
        const std::vector<std::byte> cut(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK_THROWS_AS(ptx_of_image(cut, 80), std::runtime_error);
    }
    std::mt19937 random(7);
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        auto broken = whole;
        for (int k = 0; k < 3; ++k)
            broken[random() % 160] = static_cast<std::byte>(random() & 0xff);
        refused += !problem(broken).empty();
    }
    CHECK(refused > 1000);
    CHECK(refused < 20000);
}

TEST_CASE("a wrapper leads to its image, or to the images of a device link")
{
    static const auto one = static_image<0>({{1, 80, ptx_80}});
    static const __fatBinC_Wrapper_t plain = {FATBINC_MAGIC, FATBINC_VERSION, one, nullptr};
    CHECK(ptx_of(images_of_wrapper(&plain), 80).size() == 1);

    static const auto linked = static_image<1>({{2, 80, "machine"}});
    static const auto without = static_image<2>({{2, 80, "machine"}});
    static const auto two = static_image<3>({{1, 75, ptx_75}});
    static const void *parts[] = {one, without, two, nullptr};
    static const __fatBinC_Wrapper_t list = {FATBINC_MAGIC, FATBINC_LINK_VERSION, linked, parts};
    const auto texts = ptx_of(images_of_wrapper(&list), 80);
    REQUIRE(texts.size() == 2);
    CHECK(has(texts[1], "seventy-five"));

    static const void *none[] = {without, nullptr};
    static const __fatBinC_Wrapper_t empty = {FATBINC_MAGIC, FATBINC_LINK_VERSION, linked, none};
    CHECK_THROWS_AS(ptx_of(images_of_wrapper(&empty), 80), std::runtime_error);
    static const __fatBinC_Wrapper_t strange = {FATBINC_MAGIC, 9, one, nullptr};
    CHECK_THROWS_AS(ptx_of(images_of_wrapper(&strange), 80), std::runtime_error);
    static const __fatBinC_Wrapper_t nowhere = {FATBINC_MAGIC, FATBINC_VERSION, nullptr, nullptr};
    CHECK_THROWS_AS(ptx_of(images_of_wrapper(&nowhere), 80), std::runtime_error);
    static const __fatBinC_Wrapper_t wrong = {1, FATBINC_VERSION, one, nullptr};
    CHECK_THROWS_AS(ptx_of(images_of_wrapper(&wrong), 80), std::runtime_error);
}

TEST_CASE("parts of a device link become one text")
{
    const std::string a = R"(
.version 9.0
.target sm_80
.address_size 64
.extern .func (.param .b32 func_retval0) scale
(
	.param .b32 scale_param_0
)
;
.extern .global .align 4 .u32 calls;
.visible .global .align 4 .u32 mine = 3;
.global .align 1 .b8 $str[3] = {97, 10, 0};
.global .align 8 .u64 table[1] = {generic($str)};
.weak .func shared_by_both()
{
	ret;
}
.visible .entry first(
	.param .u64 first_param_0
)
{
	.loc	1 7 0 // comment with a brace {
	.loc	2 107 3, function_name $L__info_string0, inlined_at 1 7 30
	mov.u64 %rd1, $str;
	{
	call.uni (retval0), scale, (param0);
	}
	ret;
}
	.file	1 "/a.cu"
	.file	2 "/inc/h.h"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90
	}
)";
    const std::string b = R"(
.version 9.0
.target sm_80
.address_size 64
.extern .func library_function
(
	.param .b32 p
)
;
.visible .global .align 4 .u32 calls;
.extern .global .align 4 .u32 mine;
.global .align 1 .b8 $str[3] = {98, 10, 0};
.weak .func shared_by_both()
{
	ret;
}
.visible .func (.param .b32 func_retval0) scale(
	.param .b32 scale_param_0
)
{
	.loc	1 3 1
	mov.u64 %rd1, $str;
	ret;
}
	.file	1 "/b.cu"
)";
    const std::string text = link_ptx({a, b});
    CHECK(times(text, ".version") == 1);
    CHECK(times(text, "shared_by_both") == 1);
    CHECK(times(text, "u32 calls") == 1);
    CHECK(!has(text, ".extern .global"));
    CHECK(has(text, ".visible .global .align 4 .u32 calls;"));
    CHECK(times(text, ".extern") == 1);
    CHECK(has(text, ".extern .func library_function"));
    CHECK(times(text, "scale\n(") == 1);
    CHECK(text.find("scale\n(") < text.find("call.uni"));
    CHECK(has(text, "$str$part1[3] = {98"));
    CHECK(has(text, "mov.u64 %rd1, $str$part1;"));
    CHECK(has(text, "mov.u64 %rd1, $str;"));
    CHECK(has(text, "generic($str)"));
    CHECK(has(text, ".file\t3 \"/b.cu\""));
    CHECK(has(text, ".loc\t3 3 1"));
    CHECK(has(text, "inlined_at 1 7 30"));
    CHECK(!has(text, "debug_str"));

    CHECK(link_ptx({a}) == a);
    CHECK_THROWS_AS(link_ptx({b, b}), std::runtime_error);
    CHECK_THROWS_AS(link_ptx({a, ".visible .func f() { ret;"}), std::runtime_error);
    CHECK_THROWS_AS(link_ptx({a, ".file 99999999999 \"a\""}), std::runtime_error);

    // Damaged text is refused or passed on; an address sanitizer must find nothing.
    std::mt19937 random(11);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        auto broken = a;
        for (int k = 0; k < 4; ++k)
            broken[random() % broken.size()] = " {}();=[]\"./*x0"[random() % 15];
        broken.resize(random() % broken.size() + 1);
        try {
            link_ptx({b, broken});
        } catch (const std::runtime_error &) {
            ++refused;
        }
    }
    CHECK(refused > 100);
    CHECK(refused < 2000);
}
