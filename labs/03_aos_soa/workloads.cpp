// Makes the inputs and workloads of lab 03, with their gates: particles in either layout, and a
// matrix to transpose.
#include "workloads.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;

const char *name_of(task what)
{
    return what == task::drift          ? "drift"
           : what == task::distance_all ? "distance_all"
                                        : "distance_some";
}

floats random_particles(int n) { return random_floats(std::size_t(n) * fields); }

numbers random_numbers(int k, int n) { return random_ints(std::size_t(k), 0, n - 1); }

floats in_sixteenths(std::size_t particles)
{
    floats aos = random_floats(particles * fields, -8, 8);
    for (float &value : aos) value = std::round(value * 16) / 16;
    return aos;
}

floats any_bits(std::size_t particles)
{
    floats values(particles * fields);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random_source()()) &
                                         (i % 3 == 0 ? 0x807fffffu : 0xffffffffu));
    return values;
}

floats with_one_at(float3 centre, floats aos)
{
    const std::size_t i = aos.size() / fields / 2 * fields;
    aos[i + field_x] = centre.x, aos[i + field_y] = centre.y, aos[i + field_z] = centre.z;
    return aos;
}

float3 random_place(float max)
{
    floats at = random_floats(3, -max, max);
    return {at[0], at[1], at[2]};
}

// On a GPU seven sets of arguments for two workers fit the device. A multiple of 32, so that every
// column begins at a sector, and no whole number of blocks, so that who drops the tail is not
// timed.
static int raced_particles()
{
    if (simulated()) return 12000;
    double most =
        std::min(double(1 << 24), double(device().memory_bytes) / (128 * sizeof(particle)));
    return static_cast<int>(most) / 4096 * 4096 - 96;
}

static int raced_choices() { return raced_particles() / 16 - 35; }

static int raced_conversions() // two arrays of particles: half as many
{
    return simulated() ? 5984 : (raced_particles() + 96) / 2 - 96;
}

// Multiples of a tile, so that rows begin at sectors; powers of two would hide nothing either, but
// some memories deal badly with them.
static int raced_rows() { return simulated() ? 96 : 32 * 257; }
static int raced_cols() { return simulated() ? 160 : 32 * 129; }
static int raced_elements() { return raced_rows() * raced_cols(); }

// In [-1, 1), by its number: what a call must leave alone can be checked without a copy. One hash
// gives one value, of 24 bits: with more of them the seed would be found from a single particle.
static float value_of(std::uint64_t seed, std::uint64_t number)
{
    std::uint64_t h = (seed + number) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return static_cast<float>(static_cast<int>(h >> 40)) * 0x1p-23f - 1;
}

namespace {

// Many particles in a layout. Only x is kept beside them.
class crowd {
public:
    crowd(std::mt19937_64 &random, layout form, int n)
        : form_(form), seed_(random()), n_(static_cast<std::size_t>(n)), x_(n_)
    {
        for_all(n_, [this](std::size_t i) {
            x_[i] = field_of(i, field_x);
            return true;
        });
    }
    std::size_t size() const { return n_; }
    std::size_t at(std::size_t i, int f) const
    {
        return form_ == layout::aos ? fields * i + std::size_t(f) : n_ * std::size_t(f) + i;
    }
    float field_of(std::size_t i, int f) const
    {
        return value_of(seed_, fields * i + std::size_t(f));
    }
    // True if values hold all of a particle's fields but x.
    bool holds_rest(const floats &values, std::size_t i) const
    {
        bool all = true;
        for (int f = 0; f < fields; ++f) all &= f == field_x || values[at(i, f)] == field_of(i, f);
        return all;
    }
    float x(std::size_t i) const { return x_[i]; }
    floats lie() const
    {
        floats values(fields * n_);
        for_all(n_, [&](std::size_t i) {
            for (int f = 0; f < fields; ++f) values[at(i, f)] = field_of(i, f);
            return true;
        });
        return values;
    }
    // New places for a stretch of particles, in `values` too; returns the floats that hold them.
    std::span<float> renew(floats &values, std::mt19937_64 &random)
    {
        std::span<float> places = random_stretch(x_, random);
        fill_random(places, random);
        const auto first = std::size_t(places.data() - x_.data());
        for (std::size_t i = first; i < first + places.size(); ++i) values[at(i, field_x)] = x_[i];
        std::size_t stride = form_ == layout::aos ? fields : 1;
        return std::span(values).subspan(at(first, field_x), places.size() * stride);
    }

private:
    layout form_;
    std::uint64_t seed_;
    std::size_t n_;
    floats x_;
};

class drifting : public workload {
public:
    drifting(std::mt19937_64 &random, layout form)
        : crowd_(random, form, raced_particles()), particles_(0)
    {
        particles_ = changed_in_place(crowd_.lie());
        if (form == layout::soa) particles_.count = crowd_.size(); // x is all that changes
    }
    const char *function() const override { return name_of(task::drift); }
    std::vector<argument> arguments() override
    {
        return remote<decltype(drift)>::arguments(particles_, int(crowd_.size()), dt);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        crowd_.renew(particles_.values, random);
        for_all(crowd_.size(), [this](std::size_t i) {
            particles_.values[crowd_.at(i, field_x)] = crowd_.x(i);
            return true;
        });
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        // In columns, the benchmark on a GPU has seen that all but x is as it was.
        const bool x_alone = !simulated() && particles_.count < particles_.size();
        if (for_all(crowd_.size(), [this, x_alone](std::size_t i) {
                return right(i, field_x) && (x_alone || crowd_.holds_rest(particles_.values, i));
            }))
            return;
        bool none = for_all(crowd_.size(),
                            [this](std::size_t i) { return value(i, field_x) == crowd_.x(i); });
        expect(!none, verdict::NOT_WRITTEN, "drift returned, and every particle is where it was.",
               "Does a kernel run at all, and does it write its result?");
        for (std::size_t i = 0; i < crowd_.size(); ++i)
            for (int f = 0; f < fields; ++f)
                expect(right(i, f), verdict::WRONG_ANSWER,
                       "Of " + std::to_string(crowd_.size()) + " particles, field " +
                           std::to_string(f) + " of particle " + std::to_string(i) + " is " +
                           show_element(value(i, f)) + " and should be " +
                           show_element(static_cast<float>(want(i, f))) + ".",
                       "The smaller cases are right, so look for what only many particles have: "
                       "many blocks, and indices beyond some hundred thousand.");
    }
    double bytes() const override { return 12.0 * double(crowd_.size()); }
    bool restored_for_naive() const override { return false; } // a step is a step, from anywhere

private:
    static constexpr float dt = 0.125f;
    float value(std::size_t i, int f) const { return particles_.values[crowd_.at(i, f)]; }
    double want(std::size_t i, int f) const
    {
        if (f != field_x) return crowd_.field_of(i, f);
        return crowd_.x(i) + double(crowd_.field_of(i, field_vx)) * dt;
    }
    bool right(std::size_t i, int f) const
    {
        if (f != field_x) return value(i, f) == crowd_.field_of(i, f);
        return within(value(i, f), want(i, f), 2, 1 + dt); // fields are in [-1, 1)
    }

    crowd crowd_;
    output<float> particles_;
};

// Measures the distances of all particles, or of one in sixteen.
class measuring : public workload {
public:
    measuring(std::mt19937_64 &random, layout form, task what)
        : what_(what), crowd_(random, form, raced_particles()), particles_(crowd_.lie()), out_(0)
    {
        if (some()) which_.resize(raced_choices());
        draw(which_, random);
        out_ = output<float>(some() ? which_.size() : crowd_.size());
    }
    const char *function() const override { return name_of(what_); }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(crowd_.size());
        if (!some()) return remote<decltype(distance_all)>::arguments(particles_, n, centre, out_);
        return remote<decltype(distance_some)>::arguments(particles_, n, centre, which_,
                                                          int(which_.size()), out_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (!some()) return {std::as_writable_bytes(crowd_.renew(particles_, random))};
        std::span<int> stretch = random_stretch(which_, random);
        draw(stretch, random);
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        auto right = [this](std::size_t j) {
            const double distance = want(j);
            return within(out_.values[j], distance, 3, distance);
        };
        if (for_all(out_.size(), right)) return;
        std::vector<double> all(out_.size());
        for (std::size_t j = 0; j < all.size(); ++j) all[j] = want(j);
        expect_close(out_, all, 3, all);
    }
    double bytes() const override { return (some() ? 20.0 : 16.0) * double(out_.size()); }

private:
    static constexpr float3 centre = {0.25f, -1.5f, 0.75f};
    bool some() const { return what_ == task::distance_some; }
    void draw(std::span<int> numbers, std::mt19937_64 &random) const
    {
        for (int &i : numbers) i = static_cast<int>(random() % crowd_.size());
    }
    double want(std::size_t j) const
    {
        std::size_t i = some() ? static_cast<std::size_t>(which_[j]) : j;
        double x = double(crowd_.x(i)) - centre.x;
        double y = double(crowd_.field_of(i, field_y)) - centre.y;
        double z = double(crowd_.field_of(i, field_z)) - centre.z;
        return std::sqrt(x * x + y * y + z * z);
    }

    task what_;
    crowd crowd_;
    floats particles_;
    numbers which_;
    output<float> out_;
};

// A matrix and its transpose, as particles of either layout are one of each other.
class transposing : public workload {
public:
    transposing(std::mt19937_64 &random, transposition what)
        : what_(what),
          rows_(what == transposition::to_aos   ? fields
                : what == transposition::to_soa ? raced_conversions()
                                                : raced_rows()),
          cols_(what == transposition::to_aos   ? raced_conversions()
                : what == transposition::to_soa ? fields
                                                : raced_cols()),
          in_(std::size_t(rows_) * cols_),
          out_(in_.size())
    {
        fill_random(in_, random);
    }
    const char *function() const override
    {
        return what_ == transposition::to_aos   ? "to_aos"
               : what_ == transposition::to_soa ? "to_soa"
                                                : "transpose";
    }
    std::vector<argument> arguments() override
    {
        if (what_ == transposition::plain)
            return remote<decltype(transpose)>::arguments(in_, out_, rows_, cols_);
        return remote<decltype(to_soa)>::arguments(in_, out_, raced_conversions()); // to_aos, too
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random)};
    }
    void check() override
    {
        // By tiles: neighbours in one of the two matrices lie far apart in the other.
        constexpr std::size_t tile = 64;
        const std::size_t height = std::size_t(rows_), width = std::size_t(cols_);
        const std::size_t across = (width + tile - 1) / tile, down = (height + tile - 1) / tile;
        auto tile_is_right = [&](std::size_t t) {
            const std::size_t top = t / across * tile, left = t % across * tile;
            bool all = true;
            for (std::size_t col = left; col < std::min(left + tile, width); ++col)
                for (std::size_t row = top; row < std::min(top + tile, height); ++row)
                    all &= out_.values[col * height + row] == in_[row * width + col];
            return all;
        };
        if (for_all(across * down, tile_is_right, 256)) return;
        expect_equal(out_, oracle::transpose(in_, rows_, cols_), {width, height});
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    transposition what_;
    int rows_, cols_;
    floats in_;
    output<float> out_;
};

} // namespace

make_workload particles_in(layout form, task what)
{
    return [=](std::mt19937_64 &random) -> std::unique_ptr<workload> {
        if (what == task::drift) return std::make_unique<drifting>(random, form);
        return std::make_unique<measuring>(random, form, what);
    };
}

make_workload matrix_for(transposition what) { return workload_of<transposing>(what); }

// 1024 threads with eight particles each have two blocks here, the second half full.
constexpr double min_share = 1.25;

static const char *const whole_sectors =
    "Memory moves in sectors of 32 bytes. Which fields share a sector with those you need, and are "
    "they needed, too? A particle far from the others takes one sector of each column, but only "
    "one of a struct.";

// Lanes far apart in a column have no more compulsory bytes than neighbours, so `moved` bounds all
// bytes. distance_some has 8 bytes besides, for the index and the result.
static std::vector<counted_gate> bytes_of_particles(task what, double compulsory, double moved)
{
    const bool some = what == task::distance_some;
    const std::string element = some ? "chosen particle" : "particle";
    auto count = [=] { return double(some ? raced_choices() : raced_particles()); };
    return {at_most("compulsory bytes per " + element, {compulsory}, "bytes", whole_sectors,
                    [=](const counted &c) {
                        return double(c.compulsory_bytes) / count() - (some ? 8 : 0);
                    }),
            moved_bytes(element, count, {moved},
                        some ? whole_sectors
                             : "A column helps where neighbouring lanes handle neighbouring "
                               "particles: a warp moves every sector that one of its lanes asks "
                               "for."),
            lanes_at_work()};
}

bool race_particles(task what, layout chosen, std::function<bool()> is_right)
{
    speed_gates gates;
    if (what == task::drift) {
        gates.speedup = 3;
        gates.copy = {0.60, 0.75, 0.90}; // plain columns reach 0.80 on an H200
        gates.counted = bytes_of_particles(what, 13, 24);
        gates.too_slow = "A step needs two fields of sixteen. Which layout moves them without the "
                         "rest? With that layout, more bytes in flight help: several particles "
                         "per thread.";
    } else if (what == task::distance_all) {
        gates.speedup = 1.35; // of 36 bytes for 16
        gates.copy = {0.55, 0.75, 0.90};
        gates.counted = bytes_of_particles(what, 17, 32);
        gates.too_slow = "A distance needs three fields of eight that share a sector. Which layout "
                         "moves them without the rest?";
    } else {
        gates.speedup = 0.6; // naive's layout is the right one here; of columns, 0.44 on an H200
        // A float at a time, as naive does, moves 104.
        gates.counted = bytes_of_particles(what, 34, 130);
        gates.too_slow = "Particles far apart share no sector. In which layout do x, y and z of "
                         "one particle share theirs?";
    }
    // The chosen particles are so few that one block may have all of them.
    if (what != task::distance_some) gates.counted.push_back(blocks_share(min_share));
    gates.form = chosen == layout::aos ? "aos" : "soa";
    gates.form_is_right = std::move(is_right);
    // Naive keeps its structs, whatever the submission chose.
    return race(particles_in(chosen, what), gates,
                chosen == layout::aos ? make_workload{} : particles_in(layout::aos, what));
}

static const char *const same_bank =
    "Which word of the tile does each lane of a warp ask for at that line? Take these numbers "
    "modulo 32: lanes that agree, but ask for different words, wait for each other.";

static double conversions() { return double(raced_conversions()); }

static void add_gates_of_transpose(speed_gates &gates)
{
    auto elements = [] { return double(raced_elements()); };
    gates.speedup = 3.5; // without padding 2.8 on an H200, with it 4.9
    gates.counted.insert(
        gates.counted.end(),
        {moved_bytes("element", elements, {9.6},
                     "Every element should be loaded once and stored once, by whatever path."),
         bank_conflicts(1.1, same_bank), conflicts_per_element(elements, 0.03), lanes_at_work(),
         blocks_share(1.5)}); // tiles of 64 x 128 have three blocks
    gates.too_slow = "Read rows and write rows: the transposition happens in a tile in shared "
                     "memory. And check in which banks the lanes of a warp collide.";
}

static void add_gates_of_conversion(speed_gates &gates)
{
    gates.counted.insert(
        gates.counted.end(),
        {moved_bytes("particle", conversions, {2 * sizeof(particle) + 7.0},
                     "A particle should be loaded once and stored once, by whatever path."),
         at_most("sectors loaded per particle", {2.05}, "sectors",
                 "A particle fills two sectors; load them once.",
                 per(conversions, &counted::load_sectors)),
         at_most("sectors stored per particle", {2.05}, "sectors",
                 "A particle fills two sectors; store them once.",
                 per(conversions, &counted::store_sectors)),
         bank_conflicts(2, same_bank), lanes_at_work(), blocks_share(min_share)});
}

void race_matrix(transposition what)
{
    speed_gates gates;
    gates.counted = {used_by_loads(0.95), used_by_stores(0.95)};
    if (what == transposition::plain)
        add_gates_of_transpose(gates);
    else
        add_gates_of_conversion(gates);
    race(matrix_for(what), gates);
}

void race_bytes_moved(transposition conversion)
{
    speed_gates gates;
    // Structs in requests of 16 bytes move 192: each of their sectors twice.
    gates.counted = {moved_bytes("particle", conversions, {200},
                                 "Each request moves whole sectors. How many requests of a thread "
                                 "touch the same sector of a struct? Let them ask for more of it: "
                                 "float4, or neighbouring lanes on neighbouring floats."),
                     lanes_at_work(), blocks_share(min_share)};
    race(matrix_for(conversion), gates);
}
