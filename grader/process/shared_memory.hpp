// Memory that processes share.
#pragma once

#include "descriptor.hpp"

#include <cstddef>

namespace grading {

// Memory that the parent shares with every worker started with it. It is sealed against growing
// and shrinking, and against writing by workers where they may not write it. Pages cost memory
// once touched.
class shared_memory {
public:
    explicit shared_memory(std::size_t bytes, bool workers_may_write);
    ~shared_memory();
    shared_memory(const shared_memory &) = delete;
    shared_memory &operator=(const shared_memory &) = delete;
    std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    int descriptor() const { return memory_.get(); }
    // Makes the pages of these bytes, as their first use would. Does nothing where the system
    // cannot (Linux before 5.14).
    void populate(std::size_t first, std::size_t last) const;

private:
    std::byte *data_ = nullptr;
    std::size_t size_ = 0;
    owned_fd memory_;
};

} // namespace grading
