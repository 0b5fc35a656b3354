// The sectors of device memory that a launch touched.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace simulator::core {

// The set of 32-byte sectors that a launch touched: one bit each, in pages allocated on demand.
class sector_set {
public:
    __attribute__((always_inline)) void add(std::uint64_t sector)
    {
        std::uint64_t *words = last_page_ == sector >> page_shift ? last_ : words_of(sector);
        std::uint64_t bit = std::uint64_t{1} << (sector & 63);
        std::uint64_t &word = words[(sector & (page_sectors - 1)) >> 6];
        count_ += (word & bit) == 0;
        word |= bit;
    }
    __attribute__((always_inline)) void add_range(std::uint64_t first, std::uint64_t last)
    {
        for (auto s = first; s <= last; ++s) add(s);
    }
    std::uint64_t count() const { return count_; }
    // The 4096-byte ranges that contain any touched sector, as first sectors, in no order.
    std::vector<std::uint64_t> touched_ranges() const;
    template <typename function> void each(function body) const // in no order
    {
        for (const std::uint64_t number : touched_)
            for (std::uint64_t k = 0; k < page_sectors / 64; ++k)
                for (std::uint64_t word = pages_[number]->words[k]; word; word &= word - 1)
                    body((number << page_shift) + 64 * k +
                         static_cast<std::uint64_t>(__builtin_ctzll(word)));
    }
    void clear();

private:
    static constexpr int page_shift = 15;
    static constexpr std::uint64_t page_sectors = std::uint64_t{1} << page_shift;
    struct page {
        std::uint64_t words[page_sectors / 64];
        bool listed; // in touched_
    };
    std::uint64_t *words_of(std::uint64_t sector);
    std::uint64_t last_page_ = ~std::uint64_t{0};
    std::uint64_t *last_ = nullptr; // the words of that page
    std::uint64_t count_ = 0;
    std::vector<std::unique_ptr<page>> pages_; // by number; null: never touched
    std::vector<std::uint64_t> touched_;       // numbers of the pages with a touched sector
};

} // namespace simulator::core
