// Tests the comparison of a class's files: what counts as alike, and the files for other tools.
#include "cli/class/similarity.hpp"
#include "cli/support/csv.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "cli/terminal/text.hpp"
#include "cli_project.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

using namespace cli;

namespace {

// The files of a folder, and the worked solution beside it, as files of students.
std::vector<compared_file> solutions_of(const std::string &root, const std::string &lab)
{
    const std::string folder = root + "/solutions/" + lab;
    std::vector<compared_file> files{{"solution", lab, read_text(folder + "/solution.cu")}};
    for (const auto &e : std::filesystem::directory_iterator(folder + "/right"))
        files.push_back({e.path().stem(), lab, read_text(e.path())});
    return files;
}

given_code given_in(const std::string &root, const std::string &lab)
{
    return {read_text(root + "/labs/" + lab + "/stub.cu"),
            read_text(root + "/reference/" + lab + "/naive.cu"),
            read_text(root + "/labs/check.hpp") + read_text(root + "/labs/devices.hpp")};
}

std::vector<similar_pair> pairs_of(const std::vector<compared_file> &files, const given_code &given)
{
    return compare_files(files, given).pairs;
}

// Three functions, and the same in another order, with other names, comments and layout.
const std::string own_code =
    "static __global__ void add(const float *in, float *out, int n)\n"
    "{\n    // One thread per element.\n"
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) out[i] = in[i] + in[(i + 7) % n] * 2.0f;\n}\n"
    "void mine(const float *in, float *out, int n)\n"
    "{\n    float *kept = nullptr;\n    cudaMalloc(&kept, 4 * n);\n"
    "    add<<<n / 256 + 1, 256>>>(in, kept, n);\n"
    "    cudaMemcpy(out, kept, 4 * n, cudaMemcpyDeviceToDevice);\n    cudaFree(kept);\n}\n"
    "static __global__ void count(const unsigned char *in, int n, unsigned *bins)\n"
    "{\n    __shared__ unsigned of_block[256];\n"
    "    for (int b = threadIdx.x; b < 256; b += blockDim.x) of_block[b] = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        atomicAdd(&of_block[in[i]], 1u);\n"
    "    __syncthreads();\n"
    "    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], "
    "of_block[b]);\n}\n";
const std::string disguised =
    "static __global__ void tally(const unsigned char *bytes, int size, unsigned *result) {\n"
    "  __shared__ unsigned mine[128];\n"
    "  for (int k = threadIdx.x; k < 128; k += blockDim.x) mine[k] = 7;  __syncthreads();\n"
    "  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < size; j += gridDim.x * blockDim.x)"
    " atomicAdd(&mine[bytes[j]], 1u); __syncthreads(); // done\n"
    "  for (int k = threadIdx.x; k < 128; k += blockDim.x) atomicAdd(&result[k], mine[k]); }\n"
    "/* all my own work */ void other_name(const float *a, float *b, int count) {\n"
    "  float *tmp = nullptr; cudaMalloc(&tmp, 4 * count);\n"
    "  sum<<<count / 128 + 1, 128>>>(a, tmp, count);\n"
    "  cudaMemcpy(b, tmp, 8 * count, cudaMemcpyDeviceToDevice);\n  cudaFree(tmp); }\n"
    "static __global__ void sum(const float *a, float *b, int count) {\n"
    "  const int index = blockIdx.x * blockDim.x + threadIdx.x; // mine\n"
    "  if (index < count) b[index] = a[index] + a[(index + 9) % count] * 3.0f; }\n";

// Code that has nothing in common with that.
const std::string other_code = [] {
    std::string text;
    for (const char *sign : {"+", "-", "*", "/", "%", "&", "|", "^"})
        text +=
            fmt::format("struct s {{ int a; char b; }}; int g(s *x) {{ return x->a {0} x->b ? 1 : "
                        "-x->a; }} template <class T> T h(T t) {{ return t {0} t[0].t(t); }}\n",
                        sign);
    return text;
}();

const std::string workbook_root = std::filesystem::path(WORKBOOK_DATA).parent_path();

// A student edition has no worked solutions.
bool has_solutions() { return std::filesystem::exists(workbook_root + "/solutions"); }

} // namespace

TEST_CASE("a copy with other names, comments, numbers and order of functions is found")
{
    std::vector<similar_pair> pairs = pairs_of({{"ada", "x", own_code},
                                                {"bob", "x", disguised},
                                                {"eve", "x", other_code},
                                                {"tim", "x", "int f(int n) { return n; }\n"}},
                                               {});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].first == "ada");
    CHECK(pairs[0].second == "bob");
    CHECK(pairs[0].of_first > 0.95);
    CHECK(pairs[0].of_second > 0.95);
    // A file within a longer one: each has its own share.
    pairs = pairs_of({{"ada", "x", own_code}, {"bob", "x", own_code + other_code}}, {});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].of_first == 1);
    CHECK(pairs[0].of_second < 0.9);
}

TEST_CASE("what was given to all is nobody's copy")
{
    CHECK(pairs_of({{"ada", "x", own_code}, {"bob", "x", disguised}}, {"", own_code}).empty());
    CHECK(pairs_of({{"ada", "x", own_code}, {"bob", "x", own_code}}, {own_code, ""}).empty());
    CHECK(pairs_of({{"ada", "x", own_code}, {"bob", "x", disguised}}, {"", "", own_code}).empty());
    CHECK(compare_files({{"ada", "x", own_code}, {"eve", "x", other_code}}, {"", own_code})
              .too_short == std::vector<std::string>{"ada"});
    CHECK(pairs_of({{"ada", "x", ""}, {"bob", "x", ""}}, {}).empty());
    CHECK(without_lines_of("  a ( b );\nmine\n}\n a(b);\r\n", "a(b);\n}\n") == "mine\n");
}

TEST_CASE("files that never end their comment or literal are compared, too")
{
    for (const char *end : {"/*", "\"", "'", "\"\\", "//", "#include", "1", "."})
        CHECK_MESSAGE(
            pairs_of({{"ada", "x", own_code + end}, {"bob", "x", own_code + end}}, {}).size() == 1,
            end);
}

TEST_CASE("independent solutions of this workbook lie below the threshold" *
          doctest::skip(!has_solutions()))
{
    // In labs 05, 08, 11, 12 and 15 some of the right solutions differ in one step only, on
    // purpose.
    for (const char *lab :
         {"01_memory_spaces", "02_coalescing", "03_aos_soa", "04_tiled_matmul", "06_scan",
          "07_compaction", "09_quicksort", "10_radix_sort", "13_nbody"})
        for (const similar_pair &p :
             pairs_of(solutions_of(workbook_root, lab), given_in(workbook_root, lab)))
            FAIL_CHECK(lab << ": " << p.first << " and " << p.second << ": " << p.share());
    const auto alike_in = [&](const char *lab) {
        std::vector<std::string> alike;
        for (const similar_pair &p :
             pairs_of(solutions_of(workbook_root, lab), given_in(workbook_root, lab)))
            alike.push_back(std::min(p.first, p.second) + ", " + std::max(p.first, p.second));
        return alike;
    };
    CHECK(alike_in("05_convolution") == std::vector<std::string>{"texture_on_memory, textures"});
    CHECK(alike_in("08_histogram") == std::vector<std::string>{"equal_bytes, solution"});
}

TEST_CASE("a renamed copy of a worked solution is found" * doctest::skip(!has_solutions()))
{
    for (const char *lab : {"02_coalescing", "06_scan", "11_streams"}) {
        const std::string text = read_text(workbook_root + "/solutions/" + lab + "/solution.cu");
        // Adds a letter to each name that renaming can change.
        std::string renamed;
        for (std::size_t i = 0; i < text.size();) {
            std::size_t end = i;
            while (end < text.size() && grading::is_name_char(text[end])) ++end;
            std::string word = text.substr(i, end - i);
            static const std::regex own("[a-z]+_[a-z_]+|[a-z]|out|sum|value");
            if (std::regex_match(word, own) && word.find("__") != 0) word += "q";
            renamed += word;
            if (end == i) renamed += text[end++];
            i = end;
        }
        const auto pairs =
            pairs_of({{"ada", lab, text}, {"bob", lab, renamed}}, given_in(workbook_root, lab));
        REQUIRE_MESSAGE(pairs.size() == 1, lab);
        CHECK_MESSAGE(pairs[0].share() > 0.9, lab);
    }
}

TEST_CASE("the files for JPlag and Dolos have safe names, one each, and not the stub's lines")
{
    project p;
    const std::string out = p.root + "/out dir";
    require_similarity_folder(out);
    const given_code given{"void f()\n{\n}\n", ""};
    const std::string theirs = "void f()\n{\n    g();\n}\n";
    std::vector<compared_file> files;
    for (const char *name : {"../../up", "Lovelace Ada_1", "lovelace ada_1", "stub", "=1+1", "",
                             "-rf", ".hidden", "none"})
        files.push_back({name, "02_scaling", theirs + own_code});
    files.back().text.clear();
    const std::string said = write_similarity(out, files, {{"02_scaling", given}}, 80);
    std::vector<std::string> names;
    for (const auto &e : std::filesystem::directory_iterator(out + "/02_scaling"))
        names.push_back(e.path().filename());
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"Lovelace_Ada_1.cpp", "_._.._up.cpp", "_1_1.cpp",
                                            "_hidden.cpp", "_rf.cpp", "info.csv",
                                            "lovelace_ada_1_2.cpp", "stub.cpp", "stub_2.cpp",
                                            "student.cpp"});
    CHECK(read_text(out + "/02_scaling/stub.cpp") == given.stub);
    CHECK(read_text(out + "/02_scaling/stub_2.cpp").starts_with("    g();\nstatic __global__"));
    const auto info = read_csv(out + "/02_scaling/info.csv", {"filename", "full_name"});
    REQUIRE(info.size() == 8);
    CHECK(info[4].words == std::vector<std::string>{"_1_1.cpp", "'=1+1"});
    CHECK(contains(said, "02_scaling: 8 files compared, 28 of 28 pairs alike\n"));
    CHECK(contains(said, " 100 % of ../../up, 100 % of Lovelace Ada_1\n"));
    CHECK(contains(said, "and 18 more; all are in "));
    CHECK(contains(said, "This is no proof"));
    CHECK(contains(said, "dolos run -l cpp -i '" + out + "/02_scaling'/stub.cpp"));
    CHECK(lines(read_text(out + "/pairs.csv")).size() == 29);
    CHECK_THROWS_WITH_AS(require_similarity_folder(out), doctest::Contains("no empty folder"),
                         usage_error);
    CHECK_THROWS_AS(require_similarity_folder(p.put("file", "")), usage_error);
}
