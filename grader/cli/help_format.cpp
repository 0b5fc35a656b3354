// Lays out --help: one paragraph per part, options in two columns.
#include "help_format.hpp"

#include "cli/terminal/text.hpp"
#include "text/words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace cli {

namespace {

constexpr int help_width = 80, help_column = 30; // of the text beside an option

// The values that an option takes: " TEXT", or " {cpu, gpu}" where only these words are allowed.
std::string values_of(const CLI::Option &option)
{
    if (option.get_positional() || option.get_expected_max() == 0) return {};
    const std::string type = option.get_type_name(); // TEXT:{cpu,gpu}
    const std::size_t colon = type.find(':');
    std::string allowed = colon == type.npos ? type : type.substr(colon + 1);
    if (allowed.empty()) return {};
    grading::replace_all(allowed, ",", ", "); // so that it can be wrapped
    return " " + allowed;
}

class two_columns : public CLI::Formatter {
public:
    std::string make_help(const CLI::App *app, std::string name,
                          CLI::AppFormatMode mode) const override
    {
        std::vector<std::string> parts;
        for (const std::string &part :
             {app->get_description(), make_usage(app, name), make_positionals(app),
              make_groups(app, mode), make_subcommands(app, mode), app->get_footer()})
            if (part.find_first_not_of(" \n") != part.npos)
                parts.push_back(without_empty_ends(part));
        return fmt::format("{}\n", fmt::join(parts, "\n\n"));
    }

    std::string make_option(const CLI::Option *option, bool positional) const override
    {
        std::string left = "  " + make_option_name(option, positional) + values_of(*option);
        if (positional && option->get_expected_max() > 1) left += " ...";
        left = wrapped(left, help_width, 6);
        const bool beside = columns(left) < help_column - 1;
        left = beside ? padded(left, help_column) : left + "\n" + std::string(help_column, ' ');
        return left + wrapped(option->get_description(), help_width, help_column) + "\n";
    }

private:
    // The blanks that indent its first line stay.
    static std::string without_empty_ends(const std::string &part)
    {
        const std::size_t first = part.find_first_not_of('\n'), last = part.find_last_not_of(" \n");
        return part.substr(first, last + 1 - first);
    }
};

} // namespace

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<two_columns>(); }

} // namespace cli
