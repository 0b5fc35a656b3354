// Draws requests: which lane asks for which sector, and which bank serves which lanes.
#include "pictures.hpp"

#include "access_words.hpp"
#include "cli/support/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace cli {

namespace {

constexpr double left = 6, lane_width = 20; // the margin and each of the 32 columns, in SVG units
constexpr double width = left + 32 * lane_width + left;
constexpr std::size_t max_rows = 40; // wavefronts drawn; the legend counts the others

// The horizontal positions of the 128-byte cache lines that a request touches.
struct touched_lines {
    std::set<std::uint64_t> sectors, lines;
    double gap, sector_width, start;

    explicit touched_lines(const worst_request &w)
    {
        for (std::uint64_t address : w.addresses)
            for (std::uint64_t s = address / 32; s <= (address + w.bytes - 1) / 32; ++s) {
                sectors.insert(s);
                lines.insert(s / 4);
            }
        double n = static_cast<double>(lines.size());
        gap = n > 8 ? 4 : 10;
        sector_width = std::min((32 * lane_width - gap * (n - 1)) / (4 * n), 2 * lane_width);
        start = left + (32 * lane_width - n * 4 * sector_width - gap * (n - 1)) / 2;
    }
    double x(std::uint64_t sector) const
    {
        auto before = std::distance(lines.begin(), lines.find(sector / 4));
        return start + static_cast<double>(before) * (4 * sector_width + gap) +
               static_cast<double>(sector % 4) * sector_width;
    }
    double x_of_byte(std::uint64_t address) const
    {
        return x(address / 32) + static_cast<double>(address % 32) / 32 * sector_width;
    }
};

std::string lane_boxes(const worst_request &w, double y)
{
    std::string text;
    for (int lane = 0; lane < 32; ++lane) {
        bool asks = std::binary_search(w.lanes.begin(), w.lanes.end(), lane);
        double x = left + lane * lane_width;
        text += svg_rect(x + 1, y, lane_width - 2, 18, asks ? "lane" : "idle");
        text +=
            svg_text(x + lane_width / 2, y + 13, asks ? "mid" : "mid faint", std::to_string(lane));
    }
    return text;
}

// The lanes that a bank serves in one wavefront: "7", "all", "0-7", "3,5", "3+4".
std::string lanes_text(const std::vector<int> &lanes)
{
    bool row = lanes.back() - lanes.front() + 1 == static_cast<int>(lanes.size());
    if (lanes.size() == 1) return std::to_string(lanes[0]);
    if (lanes.size() == 32) return "all";
    if (row && lanes.size() > 2) return fmt::format("{}-{}", lanes.front(), lanes.back());
    if (lanes.size() == 2 && lanes[1] < 10) return fmt::format("{},{}", lanes[0], lanes[1]);
    return fmt::format("{}+{}", lanes.front(), lanes.size() - 1);
}

} // namespace

std::string sectors_picture(const worst_request &w)
{
    touched_lines touched(w);
    constexpr double lanes_y = 22, below = 40, sectors_y = 150, height = 208;
    std::string text =
        svg_text(left, 14, "small", "the 32 lanes of the warp") + lane_boxes(w, lanes_y);
    for (std::uint64_t line : touched.lines)
        for (std::uint64_t s = 4 * line; s < 4 * line + 4; ++s)
            text += svg_rect(touched.x(s), sectors_y, touched.sector_width, 22,
                             touched.sectors.contains(s) ? "touched" : "edge");
    for (std::uint64_t address : w.addresses) {
        double width = std::max(w.bytes / 32.0 * touched.sector_width, 1.0); // stays visible
        text += svg_rect(touched.x_of_byte(address), sectors_y, width, 22, "wanted");
    }
    for (std::uint64_t line : touched.lines)
        text += svg_rect(touched.x(4 * line), sectors_y, 4 * touched.sector_width, 22, "outline");
    std::uint64_t first = *touched.lines.begin();
    bool few = touched.lines.size() <= 8;
    for (std::uint64_t line : touched.lines)
        if (few || line == first)
            text += svg_text(touched.x(4 * line), sectors_y + 36, "small",
                             line == first ? "byte 0" : thousands(128 * (line - first)));
    if (!few)
        text +=
            svg_text(left + 32 * lane_width, sectors_y + 36, "small end",
                     fmt::format("byte {}", thousands(128 * (*touched.lines.rbegin() - first))));
    for (std::size_t k = 0; k < w.lanes.size(); ++k) {
        double from = left + w.lanes[k] * lane_width + lane_width / 2;
        double to = touched.x_of_byte(w.addresses[k]) + w.bytes / 64.0 * touched.sector_width;
        text += svg_line(from, below, to, sectors_y, "asks");
    }
    text += svg_text(
        left, height - 6, "small",
        "a cell is a sector of 32 bytes, a frame a line of 128; blue was asked for, orange "
        "moves with it");
    return svg(width, height,
               fmt::format("{} lanes and the {} sectors they touch", w.lanes.size(), w.cost), text);
}

std::string banks_picture(const worst_request &w)
{
    auto wavefronts = wavefronts_of(w);
    std::size_t shown = std::min(wavefronts.size(), max_rows);
    constexpr double top = 40, row_height = 18;
    double height = top + static_cast<double>(shown) * row_height + 24;
    std::string text = svg_text(left, 14, "small", "the 32 banks of shared memory");
    for (int bank = 0; bank < 32; ++bank)
        text += svg_text(left + bank * lane_width + lane_width / 2, 33, "mid faint",
                         std::to_string(bank));
    for (std::size_t r = 0; r < shown; ++r) {
        double y = top + static_cast<double>(r) * row_height;
        for (std::size_t bank = 0; bank < 32; ++bank) {
            const std::vector<int> &lanes = wavefronts[r][bank];
            double x = left + static_cast<double>(bank) * lane_width;
            text += svg_rect(x + 1, y + 1, lane_width - 2, row_height - 2,
                             lanes.empty() ? "untouched" : "lane");
            if (!lanes.empty())
                text +=
                    svg_text(x + lane_width / 2, y + 13,
                             lanes_text(lanes).size() > 2 ? "mid tiny" : "mid", lanes_text(lanes));
        }
    }
    std::string legend =
        "a row is a wavefront, with the lanes that it serves; 3+1: lane 3 and one more";
    if (wavefronts.size() > shown)
        legend += fmt::format("; {} rows follow", wavefronts.size() - shown);
    text += svg_text(left, height - 6, "small", legend);
    return svg(width, height, fmt::format("banks and lanes, {} wavefronts", wavefronts.size()),
               text);
}

} // namespace cli
