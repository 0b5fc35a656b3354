// Compares a class's files by their tokens, and writes them for JPlag and Dolos.
#include "similarity.hpp"

#include "class_list.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/support/csv.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t gram_length = 23; // tokens

// Keywords, and names that the language or CUDA gives: renaming cannot change them.
bool is_fixed_name(std::string_view name)
{
    static const std::set<std::string_view> fixed = {
        "auto",     "blockDim", "blockIdx",  "bool",     "break",    "case",      "char",
        "class",    "const",    "constexpr", "continue", "default",  "do",        "double",
        "else",     "enum",     "extern",    "false",    "float",    "for",       "goto",
        "gridDim",  "if",       "inline",    "int",      "long",     "namespace", "new",
        "nullptr",  "operator", "private",   "public",   "return",   "short",     "signed",
        "sizeof",   "static",   "struct",    "switch",   "template", "this",      "threadIdx",
        "true",     "typedef",  "typename",  "union",    "unsigned", "using",     "void",
        "volatile", "warpSize", "while"};
    return fixed.contains(name) || name.starts_with("cuda") || name.starts_with("__") ||
           name.starts_with("atomic");
}

std::size_t length_while(std::string_view text, const std::function<bool(char)> &holds)
{
    return std::size_t(std::find_if_not(text.begin(), text.end(), holds) - text.begin());
}

// Returns the length of a comment, of an #include or of blanks at the beginning; 0: none of them.
std::size_t length_of_nothing(std::string_view text)
{
    auto until = [&](std::string_view end, std::size_t from) {
        const std::size_t at = text.find(end, from);
        return at == text.npos ? text.size() : at + end.size();
    };
    if (text.starts_with("//") || text.starts_with("#include")) return until("\n", 0);
    if (text.starts_with("/*")) return until("*/", 2);
    return length_while(text, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

// Returns the length of a literal with its quotes; an unclosed one ends with its line.
std::size_t quoted_length(std::string_view text)
{
    std::size_t i = 1;
    while (i < text.size() && text[i] != text[0] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text.size());
}

std::size_t sign_length(std::string_view text)
{
    for (std::string_view sign :
         {"<<<", ">>>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==",
          "!=",  "<=",  ">=", "<<", ">>", "&&", "||", "->", "::", "++", "--"})
        if (text.starts_with(sign)) return sign.size();
    return 1;
}

// Returns a hash per token. All names that can be changed are one token, and so are all numbers and
// all literals in quotes.
std::vector<std::uint64_t> tokens_of(std::string_view text)
{
    std::vector<std::uint64_t> tokens;
    auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    while (!text.empty()) {
        if (const std::size_t n = length_of_nothing(text); n > 0) {
            text.remove_prefix(n);
            continue;
        }
        std::string_view token;
        std::size_t length;
        if (text[0] == '"' || text[0] == '\'') {
            length = quoted_length(text);
            token = "\"";
        } else if (is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1]))) {
            length =
                length_while(text, [](char c) { return grading::is_name_char(c) || c == '.'; });
            token = "0";
        } else if (grading::is_name_char(text[0])) {
            length = length_while(text, grading::is_name_char);
            token = is_fixed_name(text.substr(0, length)) ? text.substr(0, length) : "a";
        } else {
            length = sign_length(text);
            token = text.substr(0, length);
        }
        tokens.push_back(std::hash<std::string_view>{}(token));
        text.remove_prefix(length);
    }
    return tokens;
}

// Returns a hash per run of `gram_length` tokens.
std::vector<std::uint64_t> gram_hashes(const std::string &text)
{
    const std::vector<std::uint64_t> tokens = tokens_of(text);
    std::vector<std::uint64_t> grams;
    for (std::size_t i = 0; i + gram_length <= tokens.size(); ++i) {
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < gram_length; ++k)
            hash = (hash ^ tokens[i + k]) * 0x9e3779b97f4a7c15;
        grams.push_back(hash);
    }
    return grams;
}

// Numbers the runs of a class's files; those that were given are 0.
using gram_numbers = std::unordered_map<std::uint64_t, std::size_t>;

struct token_file {
    std::vector<std::size_t> grams;      // their numbers, in the order of the file
    std::vector<std::size_t> own_before; // how many tokens before each were not given; and in all
    std::size_t own() const { return own_before.back(); }
};

token_file token_file_of(const std::string &text, gram_numbers &numbers)
{
    token_file f;
    for (std::uint64_t hash : gram_hashes(text))
        f.grams.push_back(numbers.try_emplace(hash, numbers.size() + 1).first->second);
    f.own_before.push_back(0);
    const std::size_t tokens = f.grams.empty() ? 0 : f.grams.size() + gram_length - 1;
    std::size_t given_until = 0;
    for (std::size_t i = 0; i < tokens; ++i) {
        if (i < f.grams.size() && f.grams[i] == 0) given_until = i + gram_length;
        f.own_before.push_back(f.own_before[i] + (i >= given_until));
    }
    return f;
}

// The runs of one file, looked up by number.
class marked_grams {
public:
    explicit marked_grams(std::size_t numbers) : marks_(numbers) {}
    void mark(const token_file &f)
    {
        ++mark_;
        for (std::size_t gram : f.grams) marks_[gram] = mark_;
    }
    // The share of a file's own tokens that lie in a marked run.
    double share_of(const token_file &f) const
    {
        std::size_t shared = 0, until = 0;
        for (std::size_t i = 0; i < f.grams.size(); ++i) {
            if (f.grams[i] == 0 || marks_[f.grams[i]] != mark_) continue;
            shared += f.own_before[i + gram_length] - f.own_before[std::max(i, until)];
            until = i + gram_length;
        }
        return double(shared) / double(f.own());
    }

private:
    std::vector<std::size_t> marks_;
    std::size_t mark_ = 0;
};

std::string squeezed(const std::string &line)
{
    std::string result;
    for (char c : line)
        if (c != ' ' && c != '\t' && c != '\r') result += c;
    return result;
}

// Returns a name of a file that every system takes, and that none of `taken`, in small letters,
// has.
std::string file_name_for(const std::string &student, std::set<std::string> &taken)
{
    constexpr std::size_t max_length = 80;
    std::string stem;
    for (char c : student.substr(0, max_length))
        stem +=
            grading::is_name_char(c) || (c == '.' && !stem.empty()) || (c == '-' && !stem.empty())
                ? c
                : '_';
    if (stem.empty()) stem = "student";
    std::string name = stem;
    for (int n = 2; !taken.insert(lower(name)).second; ++n) name = fmt::format("{}_{}", stem, n);
    return name + ".cpp";
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string pairs_said(const std::string &lab, const file_comparison &found, std::size_t all_files,
                       const std::string &all_pairs, int width)
{
    constexpr std::size_t max_shown = 10;
    auto line = [&](const std::string &words) { return "  " + wrapped(words, width, 8, 2) + "\n"; };
    const std::size_t files = all_files - found.too_short.size();
    const std::size_t all = files == 0 ? 0 : files * (files - 1) / 2;
    std::string text = fmt::format("\n{}: {} compared, {} of {} alike\n", lab,
                                   plural(files, "file"), found.pairs.size(), plural(all, "pair"));
    for (std::size_t i = 0; i < std::min(found.pairs.size(), max_shown); ++i) {
        const similar_pair &p = found.pairs[i];
        text += line(fmt::format("{:>5} of {}, {} of {}", percent(p.of_first), p.first,
                                 percent(p.of_second), p.second));
    }
    if (found.pairs.size() > max_shown)
        text += line(
            fmt::format("and {} more; all are in {}", found.pairs.size() - max_shown, all_pairs));
    if (!found.too_short.empty())
        text += line(fmt::format("With fewer than {} tokens of their own, too few to compare: {}",
                                 min_own_tokens, fmt::join(found.too_short, ", ")));
    return text;
}

} // namespace

std::string without_lines_of(const std::string &text, const std::string &stub)
{
    std::set<std::string> given;
    for (const std::string &line : lines(stub)) given.insert(squeezed(line));
    std::string result;
    for (const std::string &line : lines(text))
        if (!given.contains(squeezed(line))) result += line + "\n";
    return result;
}

file_comparison compare_files(const std::vector<compared_file> &files, const given_code &given)
{
    gram_numbers numbers;
    for (const std::string &text : {given.stub, given.naive, given.headers})
        for (std::uint64_t hash : gram_hashes(text)) numbers[hash] = 0;
    file_comparison result;
    std::vector<std::pair<const compared_file *, token_file>> all;
    for (const compared_file &f : files) {
        token_file tokens = token_file_of(without_lines_of(f.text, given.stub), numbers);
        if (tokens.own() < min_own_tokens)
            result.too_short.push_back(f.student);
        else
            all.push_back({&f, std::move(tokens)});
    }
    marked_grams of_first(numbers.size() + 1), of_second(numbers.size() + 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto &[file, tokens] = all[i];
        of_first.mark(tokens);
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            of_second.mark(all[j].second);
            similar_pair p{file->lab, file->student, all[j].first->student,
                           of_second.share_of(tokens), of_first.share_of(all[j].second)};
            if (p.share() >= similarity_threshold) result.pairs.push_back(std::move(p));
        }
    }
    std::ranges::stable_sort(result.pairs, std::greater{}, &similar_pair::share);
    return result;
}

void require_similarity_folder(const std::string &folder)
{
    std::error_code problem;
    const bool there = fs::exists(fs::symlink_status(folder, problem));
    if (there && (!fs::is_directory(folder, problem) || !fs::is_empty(folder, problem) || problem))
        throw usage_error(fmt::format("--similarity {}: this is there already and no empty folder; "
                                      "nothing was graded. Name a new one, or remove it.",
                                      shell_word(sanitized(folder, 400))));
    make_folder(folder);
}

std::string write_similarity(const std::string &folder, const std::vector<compared_file> &files,
                             const std::map<std::string, given_code> &given_of_lab, int width)
{
    std::string table = csv_line({"lab", "student", "share", "other", "share_of_other"});
    const std::string all_pairs = folder + "/pairs.csv";
    std::string text = "\n" +
                       wrapped("Similarity. This is no proof: short tasks have similar "
                               "answers. Read both files before you judge.",
                               width, 0) +
                       "\n";
    for (const auto &[lab, given] : given_of_lab) {
        const std::string of_lab = folder + "/" + lab;
        make_folder(of_lab);
        std::vector<compared_file> compared;
        std::set<std::string> taken = {"stub", "info"};
        std::string info = csv_line({"filename", "full_name"});
        for (const compared_file &f : files) {
            if (f.lab != lab || f.text.empty()) continue;
            const std::string name = file_name_for(f.student, taken);
            write_atomically(of_lab + "/" + name, without_lines_of(f.text, given.stub));
            info += csv_line({name, without_formula(f.student)});
            compared.push_back(f);
        }
        write_atomically(of_lab + "/stub.cpp", given.stub);
        write_atomically(of_lab + "/info.csv", info);
        const file_comparison found = compare_files(compared, given);
        for (const similar_pair &p : found.pairs)
            table += csv_line({lab, without_formula(p.first), fmt::format("{:.3f}", p.of_first),
                               without_formula(p.second), fmt::format("{:.3f}", p.of_second)});
        text += pairs_said(lab, found, compared.size(), all_pairs, width);
        text += fmt::format("  java -jar jplag.jar -l c -bc {0}/stub.cpp {0}\n"
                            "  dolos run -l cpp -i {0}/stub.cpp {0}/info.csv\n",
                            shell_word(of_lab));
    }
    write_atomically(all_pairs, table);
    return text;
}

std::string compare_class(const toolchain &t, const std::vector<std::string> &labs,
                          const std::vector<grade_row> &rows, const std::string &folder, int width)
{
    constexpr std::size_t max_bytes = 1 << 20; // a solution has some ten thousand
    std::map<std::string, given_code> given;
    for (const std::string &name : labs) {
        const lab &l = lab_called(t, name);
        const std::string original = original_stub(t, l).text;
        given[name] = {original.empty() ? text_to_grade(t.stub(l)).value_or("") : original,
                       text_to_grade(t.source(l, "naive")).value_or(""), ""};
        for (const std::string &header : t.headers(l)) given[name].headers += read_text(header);
    }
    std::vector<compared_file> files;
    std::string too_long;
    for (const grade_row &row : rows) {
        std::string text = text_to_grade(row.file).value_or("");
        if (text.size() > max_bytes)
            too_long += fmt::format("{}{}", too_long.empty() ? "" : ", ", row.student);
        else
            files.push_back({row.student, row.lab, std::move(text)});
    }
    std::string said = write_similarity(folder, files, given, width);
    if (!too_long.empty())
        said += wrapped("Left out, being larger than 1 MiB: " + too_long, width, 2) + "\n";
    return said;
}

} // namespace cli
