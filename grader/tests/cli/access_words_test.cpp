// Tests the sentences about accesses with planted patterns, each with its cause.
#include "cli/explain/access_words.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

using namespace cli;

namespace {

// Makes a request of the lanes that satisfy `takes_part`, with its costs counted sector by sector.
worst_request request(
    bool shared, unsigned bytes, const std::function<std::uint64_t(int)> &address,
    const std::function<bool(int)> &takes_part = [](int) { return true; })
{
    worst_request w;
    w.shared = shared;
    w.bytes = bytes;
    std::set<std::uint64_t> sectors, different;
    for (int lane = 0; lane < 32; ++lane) {
        if (!takes_part(lane)) continue;
        w.lanes.push_back(lane);
        w.addresses.push_back(address(lane));
        sectors.insert(address(lane) / 32);
        different.insert(address(lane));
    }
    unsigned unit = shared ? 128 : 32, wanted = static_cast<unsigned>(different.size()) * bytes;
    w.ideal = (wanted + unit - 1) / unit;
    w.cost = static_cast<unsigned>(shared ? wavefronts_of(w).size() : sectors.size());
    return w;
}

access_sum many(const worst_request &w, std::uint64_t requests = 10)
{
    access_sum a;
    a.requests = requests;
    a.cost = requests * w.cost;
    a.ideal = requests * w.ideal;
    a.bytes = requests * w.lanes.size() * w.bytes;
    a.worst = w;
    return a;
}

access_note load_of(const worst_request &w)
{
    access_counts c;
    (w.shared ? c.shared_load : c.global_load) = many(w);
    return notes_of(c).at(0);
}

access_note store_of(worst_request w)
{
    access_counts c;
    w.kind = access_kind::store;
    (w.shared ? c.shared_store : c.global_store) = many(w);
    return notes_of(c).at(0);
}

} // namespace

TEST_CASE("neighbours, in any order, and broadcasts are no cause for a sentence")
{
    CHECK(load_of(request(false, 4, [](int l) { return 4096 + 4u * l; })).sentence == "");
    CHECK(load_of(request(false, 4, [](int l) { return 4096 + 4u * (l ^ 21); })).sentence == "");
    CHECK(load_of(request(false, 16, [](int l) { return 4096 + 16u * l; })).sentence == "");
    CHECK(load_of(request(false, 4, [](int) { return 4100u; })).sentence == "");
    // The warp covers two rows of a block that is 16 wide, with one address per row.
    worst_request rows = request(false, 4, [](int l) { return l < 16 ? 4096u : 8192u; });
    CHECK(rows.cost == 2);
    CHECK(rows.ideal == 1);
    CHECK(load_of(rows).sentence == "");
}

TEST_CASE("a stride is named with its bytes, for loads and stores")
{
    worst_request column = request(false, 4, [](int l) { return 4096u * l; });
    access_note n = load_of(column);
    CHECK(n.what == "load");
    CHECK(n.figures == "10 requests, 320 sectors, ideal 40");
    CHECK(n.sentence == "Each warp touches 32 sectors where 4 would do: neighbouring threads read "
                        "addresses 4096 bytes apart.");
    CHECK(n.waste == 280);
    CHECK(store_of(column).sentence ==
          "Each warp touches 32 sectors where 4 would do: neighbouring threads write addresses "
          "4096 bytes apart.");
    CHECK(contains(load_of(request(false, 4, [](int l) { return 1000000u - 8u * l; })).sentence,
                   "read addresses 8 bytes apart"));
}

TEST_CASE("a misaligned start is named with its distance from the line")
{
    CHECK(load_of(request(false, 4, [](int l) { return 4096 + 44 + 4u * l; })).sentence ==
          "Each warp touches 5 sectors where 4 would do: its 128 bytes begin 44 bytes into a line, "
          "not at the start of a sector.");
    // A start inside a line, but at a sector boundary, wastes nothing.
    CHECK(load_of(request(false, 4, [](int l) { return 4096 + 32 + 4u * l; })).sentence == "");
}

TEST_CASE("lanes that sit out, pieces and other patterns are told apart")
{
    worst_request even = request(
        false, 4, [](int l) { return 4096 + 4u * l; }, [](int l) { return l % 2 == 0; });
    CHECK(contains(load_of(even).sentence, "only 16 of its 32 lanes take part"));
    // The active lanes' accesses are contiguous, so only the misaligned start costs sectors.
    worst_request packed = request(
        false, 4, [](int l) { return 4096 + 20 + 4u * (l / 2); }, [](int l) { return l % 2 == 0; });
    CHECK(contains(store_of(packed).sentence, "its 64 bytes begin 20 bytes into a line"));
    worst_request pieces = request(false, 4, [](int l) { return 1000u * (l / 4) + 4u * (l % 4); });
    CHECK(contains(load_of(pieces).sentence,
                   "its 32 lanes read 8 separate pieces, which do not fill"));
    worst_request strewn = request(false, 4, [](int l) { return 4u * (l * l * 977 % 4099); });
    CHECK(contains(load_of(strewn).sentence, "addresses that are strewn about"));
    worst_request halves =
        request(false, 4, [](int l) { return 16u * (l % 2) + 512u * (l / 2 % 2) + 32u * (l / 4); });
    CHECK(contains(load_of(halves).sentence, "no two of its 32 lanes read addresses less than 16"));
}

TEST_CASE("a line whose requests differ says both, and names the memory of the worst")
{
    worst_request column = request(false, 4, [](int l) { return 256u * l; });
    column.where = "byte 0 of `in` (4096 bytes)";
    access_counts c;
    c.global_load = many(column);
    c.global_load.requests += 10; // 10 broadcasts
    c.global_load.cost += 10;
    c.global_load.ideal += 10;
    CHECK(notes_of(c).at(0).sentence ==
          "At worst a warp touches 32 sectors of `in` where 4 would do: neighbouring threads read "
          "addresses 256 bytes apart. On average it is 16.5 where 2.5 would do.");
}

TEST_CASE("a column of a shared tile lies in one bank, a padded one does not")
{
    CHECK(load_of(request(true, 4, [](int l) { return 128u * l; })).sentence ==
          "Each warp takes 32 wavefronts where 1 would do: neighbouring threads read addresses 128 "
          "bytes apart, a row of all 32 banks, so a column lies in one bank.");
    CHECK(load_of(request(true, 4, [](int l) { return 132u * l; })).sentence == "");
    CHECK(contains(store_of(request(true, 4, [](int l) { return 8u * l; })).sentence,
                   "Each warp takes 2 wavefronts where 1 would do: neighbouring threads write "
                   "addresses 8 bytes apart, so they share 16 of the 32 banks."));
    CHECK(contains(load_of(request(true, 4, [](int l) { return 256u * l; })).sentence,
                   "whole rows of the 32 banks"));
    // The warp covers two rows of a block that is 16 wide; the second row uses other banks.
    worst_request halves =
        request(true, 4, [](int l) { return 64u * static_cast<unsigned>(l % 16) + l / 16 * 4u; });
    CHECK(contains(load_of(halves).sentence,
                   "read addresses 64 bytes apart, so they share 4 of the 32 banks"));
    worst_request uneven = request(true, 4, [](int l) { return l < 3 ? 128u * l : 4u * l; });
    CHECK(contains(load_of(uneven).sentence, "3 different words of bank 0"));
    CHECK(load_of(request(true, 4, [](int) { return 64u; })).sentence == "");
}

TEST_CASE("wide accesses to shared memory go in groups, which is no conflict")
{
    worst_request row = request(true, 16, [](int l) { return 16u * l; });
    CHECK(row.cost == 4);
    CHECK(load_of(row).sentence == "");
    // Pairs of lanes read four addresses of 16 bytes in two groups, though these fit one bank row.
    worst_request few = request(true, 16, [](int l) { return 16u * (l / 2 % 4); });
    CHECK(few.cost == 2);
    CHECK(few.ideal == 1);
    CHECK(load_of(few).sentence == "");
    CHECK(wavefronts_of(request(true, 8, [](int l) { return 8u * l; })).size() == 2);
}

TEST_CASE("atomics on one address say so, spread ones do not")
{
    access_counts c;
    c.global_atomics = 3200;
    c.atomic_requests = 100;
    c.atomic_same_address = 3200;
    worst_request w = request(false, 4, [](int) { return 64u; });
    w.kind = access_kind::atomic;
    w.one_address = true;
    w.where = "byte 0 of `count` (4 bytes)";
    c.worst_atomic = w;
    CHECK(notes_of(c).at(0).sentence ==
          "All 3 200 atomics go to one address of `count`, one after another: let a warp or a "
          "block add up first.");
    c.worst_atomic->one_address = false;
    c.atomic_same_address = 450;
    CHECK(notes_of(c).at(0).sentence ==
          "4.5 lanes of a warp meet at one address on average, and take turns there.");
    c.atomic_same_address = 120;
    CHECK(notes_of(c).at(0).sentence == "");
    CHECK(notes_of(c).at(0).figures == "100 requests, 3 200 atomics");
}

TEST_CASE("local memory, constants and loading again have their own sentences")
{
    access_counts c;
    c.local_load.requests = 5;
    c.constant_requests = 10;
    c.constant_addresses = 320;
    auto notes = notes_of(c);
    REQUIRE(notes.size() == 2);
    CHECK(contains(notes[0].sentence, "array of each thread's own"));
    CHECK(contains(notes[1].sentence, "asks for 32 different constants"));
    kernel_counters k;
    k.bytes_loaded = 16'800'000;
    k.bytes_read = 2'100'000;
    CHECK(contains(redundancy_of(k, 3).sentence,
                   "load 16.8 MB, of which 2.1 MB are different: each byte 8 times"));
    k.bytes_loaded = 4'200'000;
    CHECK(redundancy_of(k, 3).sentence == "");
    CHECK(contains(redundancy_of(k, 1.5).sentence, "each byte 2 times"));
}

TEST_CASE("numbers stay short")
{
    CHECK(thousands(0) == "0");
    CHECK(thousands(1024) == "1 024");
    CHECK(thousands(134217728) == "134 M");
    CHECK(thousands(~std::uint64_t{0}).size() <= 16);
    CHECK(bytes_words(999) == "999 bytes");
}
