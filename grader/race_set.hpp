// One set of arguments of a race: its image in the input region, and the frames that bring it to
// workers and judge what comes back.
#pragma once

#include "grading.hpp"
#include "session.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace grading {

class race_set {
public:
    // Places the image in `in` from byte `at`; `number` names the set in every worker. Ends the
    // case with INFRA_ERROR when it does not fit.
    race_set(std::unique_ptr<workload> work, region &in, std::uint64_t at, std::uint32_t number);
    // Writes the image: guards, values, inputs. Before the first load().
    void fill_image();

    workload &work() const { return *work_; }
    std::uint32_t number() const { return number_; }
    std::uint64_t end() const { return end_; }               // of the image in the input region
    std::uint64_t image_bytes() const { return end_ - at_; } // about what it takes on a device

    std::uint64_t output_bytes() const { return output_bytes_; } // that a call may write, stored
    // Where stores go in the output region, until told otherwise; before load().
    void store_at(std::uint64_t at);
    std::uint64_t stored_at() const { return stored_at_; }

    request load() const;
    // Changes the inputs by the workload's rule, here and in the image. `refresh` then holds the
    // frames that any worker with this set needs: the changes; and `restore` those that only a
    // worker needs that is about to call with it: what a call writes in place. None unless
    // `restored`.
    void change(std::mt19937_64 &random, bool restored = true);
    const std::vector<request> &refresh() const { return refresh_; }
    const std::vector<request> &restore() const { return restore_; }
    // Fills the outputs with words that are no number.
    request spoil(std::uint32_t word) const;
    request store() const; // of all that a call may write

    // Judges the stored bytes as far as that is possible without knowing the answer (guards, and
    // whether anything was written at all over `word`), then gives them to the workload, whose
    // check() can follow. Ends the case; several sets may be taken at the same time.
    void take(const region &out, std::uint32_t word) const;

private:
    void find_arguments();
    void expect_unchanged() const;
    void add_changes(const std::vector<std::span<std::byte>> &changes);
    request part(std::uint32_t index, std::uint64_t at, std::uint64_t bytes) const;

    std::unique_ptr<workload> work_;
    std::vector<argument> arguments_;
    region &in_;
    std::uint64_t at_, end_, output_bytes_ = 0, stored_at_ = 0;
    std::uint32_t number_;
    bool reload_ = false; // some argument can be neither patched nor spoilt where it is
    std::vector<request> refresh_, restore_;
};

// A word of poison: as a float, half of a double or two halves it is not a number.
std::uint32_t poison_word(std::uint64_t random_bits);

} // namespace grading
