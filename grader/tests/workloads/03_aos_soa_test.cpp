// The timed workloads of lab 03 find one wrong element.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

using namespace grading;

namespace {

floats structs(const argument &particles, layout form)
{
    const floats all = copied<float>(particles);
    return form == layout::aos ? all : oracle::to_aos(all);
}

void step(const arguments &all, layout form)
{
    floats moved = structs(all[0], form);
    const std::vector<double> x = oracle::drift(moved, value_in<float>(all[2])).x;
    for (std::size_t i = 0; i < x.size(); ++i) moved[fields * i + field_x] = float(x[i]);
    fill(elements<float>(all[0]), form == layout::aos ? moved : oracle::to_soa(moved));
}

void measure(const arguments &all, layout form, task what)
{
    const std::vector<double> right =
        oracle::distances(structs(all[0], form), value_in<float3>(all[2]));
    const std::span<float> out = elements<float>(all[what == task::distance_some ? 5 : 3]);
    for (std::size_t k = 0; k < out.size(); ++k)
        out[k] = float(right[what == task::distance_some ? elements<int>(all[3])[k] : k]);
}

// A little more than expect_close() allows a sum of 2 or 3 terms.
void move_away(const argument &out, std::size_t i) { elements<float>(out)[i] += 1e-5f; }

void try_transpose(transposition what)
{
    find_one_wrong_element(
        matrix_for(what), 1,
        [=](const arguments &all) {
            const floats in = copied<float>(all[0]);
            fill(elements<float>(all[1]),
                 what == transposition::to_soa ? oracle::to_soa(in)
                 : what == transposition::to_aos
                     ? oracle::to_aos(in)
                     : oracle::transpose(in, value_in<int>(all[2]), value_in<int>(all[3])));
        },
        flip_bit);
}

} // namespace

TEST_CASE("drift: one wrong field")
{
    for (layout form : {layout::aos, layout::soa})
        find_one_wrong_element(
            particles_in(form, task::drift), 0, [=](const arguments &all) { step(all, form); },
            move_away);
}

TEST_CASE("distances: one wrong distance")
{
    for (layout form : {layout::aos, layout::soa})
        for (task what : {task::distance_all, task::distance_some})
            find_one_wrong_element(
                particles_in(form, what), what == task::distance_some ? 5 : 3,
                [=](const arguments &all) { measure(all, form, what); }, move_away);
}

TEST_CASE("transpose and conversions: one wrong element")
{
    for (auto what : {transposition::plain, transposition::to_soa, transposition::to_aos})
        try_transpose(what);
}
