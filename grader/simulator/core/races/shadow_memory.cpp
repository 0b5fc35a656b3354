// Allocates the lines of shadow memory, and splits them into cells.
#include "access.hpp"

#include <algorithm>

namespace simulator::core {
namespace {

// Units of work (machine/work_meter.hpp) of splitting a line of device or of shared memory. That of
// device memory stands for the cache misses where a grid touches memory for the first time, too. A
// page has none: how many pages an array lies in depends on its address.
constexpr u64 work_of_device_line = 400, work_of_shared_line = 30;

constexpr u32 page_shift = 14, leaf_shift = 12;

using split = shadow_line::split;

u32 cells_of(split s)
{
    return s == split::whole ? 0 : s == split::words ? line_words : line_bytes;
}
std::size_t bytes_of(split s) { return cells_of(s) * sizeof(shadow_cell); }

lane_mask lane_of_word(u32 shape, u32 word)
{
    return 1u << ((shape & 31) + 4 * word / (shape >> 8));
}

} // namespace

struct race_checker::page {
    u64 number = 0;
    shadow_line lines[(1u << page_shift) / line_bytes];
};
struct race_checker::leaf {
    page *pages[1u << leaf_shift] = {};
};

race_checker::race_checker() = default;
race_checker::~race_checker() = default;

// Called between launch trees, when no page is in use.
void race_checker::free_shadow_memory()
{
    pages_.clear();
    free_pages_.clear();
    allocated_bytes_ = 0;
}

// Called at the end of a launch tree: the next one begins with empty pages.
void race_checker::return_pages()
{
    for (page *p : used_pages_) {
        table_[p->number >> leaf_shift]->pages[p->number & ((1u << leaf_shift) - 1)] = nullptr;
        free_pages_.push_back(p);
    }
    used_pages_.clear();
}

shadow_line &race_checker::line_at(const access &a, u64 offset)
{
    if (a.space == ptx::space::shared) return a.block.shared[offset / line_bytes];
    return device_line(offset);
}

shadow_line &race_checker::device_line(u64 offset)
{
    u64 number = offset >> page_shift, high = number >> leaf_shift;
    if (high >= table_.size()) table_.resize(high + 1);
    if (!table_[high]) table_[high] = std::make_unique<leaf>();
    page *&p = table_[high]->pages[number & ((1u << leaf_shift) - 1)];
    if (p == nullptr) p = new_page(number);
    return p->lines[(offset & ((1u << page_shift) - 1)) / line_bytes];
}

race_checker::page *race_checker::new_page(u64 number)
{
    if (free_pages_.empty()) {
        pages_.push_back(std::make_unique<page>());
        free_pages_.push_back(pages_.back().get());
        allocated_bytes_ += sizeof(page);
    }
    page *p = free_pages_.back();
    free_pages_.pop_back();
    bytes_ += sizeof(page);
    p->number = number;
    used_pages_.push_back(p);
    return p;
}

// Makes a line whole again: all its accesses happen before this one.
void race_checker::unsplit_line(const access &a, shadow_line &l)
{
    if (a.space != ptx::space::shared && l.latest >= tree_began_) bytes_ -= bytes_of(l.split_into);
    l.split_into = split::whole;
}

// Returns false if the line must be split to represent this access.
bool race_checker::record_whole_line(const access &a, shadow_line &l, u32 shape)
{
    auto mine = [&](const access_record &m) { return a.of_this_warp(m) && m.lanes == shape; };
    auto fine = [&](const access_record &m) {
        return a.known_ordered(m) || mine(m) || (a.compatible(m) && !a.of_this_warp(m));
    };
    shadow_cell &w = l.whole;
    if (!fine(w.write)) return false;
    if (a.use == access_use::read) {
        if (!a.known_ordered(w.read) && !mine(w.read)) {
            if (a.of_this_warp(w.read)) return false;
            w.other = w.read;
        }
        w.read = {a.at, a.owner, shape};
        return true;
    }
    if (!fine(w.read) || !fine(w.other)) return false;
    w.write = {a.at, a.owner, shape};
    w.read = w.other = {};
    return true;
}

void race_checker::split_line(const access &a, shadow_line &l, split into)
{
    if (l.split_into == into || l.split_into == split::bytes) return;
    a.c.work += a.space == ptx::space::shared ? work_of_shared_line : work_of_device_line;
    if (a.space != ptx::space::shared) bytes_ += bytes_of(into) - bytes_of(l.split_into);
    const u32 wanted = cells_of(into);
    if (l.capacity < wanted) { // a line keeps its cells
        auto larger = std::make_unique<shadow_cell[]>(wanted);
        if (a.space != ptx::space::shared)
            allocated_bytes_ += (wanted - l.capacity) * sizeof(shadow_cell);
        if (l.split_into == split::words) std::copy_n(l.cells.get(), line_words, larger.get());
        l.cells = std::move(larger);
        l.capacity = static_cast<std::uint8_t>(wanted);
    }
    if (l.split_into == split::words)
        for (u32 k = line_bytes; k-- > 0;) l.cells[k] = l.cells[k / 4];
    // The cells' contents are stale: they are older than the last unsplit_line().
    bool live = std::max({l.whole.write.at, l.whole.read.at, l.whole.other.at}) >= a.live_from;
    if (l.split_into == split::whole && live) {
        const u32 per_word = wanted / line_words;
        auto spread = [&](access_record m, u32 word) {
            if (m.at < a.live_from) return access_record{};
            m.lanes = lane_of_word(m.lanes, word);
            return m;
        };
        for (u32 word = 0; word < line_words; ++word) {
            shadow_cell x{spread(l.whole.write, word), spread(l.whole.read, word),
                          spread(l.whole.other, word)};
            for (u32 k = 0; k < per_word; ++k) l.cells[word * per_word + k] = x;
        }
        l.whole = {};
    }
    l.split_into = into;
}

} // namespace simulator::core
