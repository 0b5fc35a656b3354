// Runs one kernel of a PTX file as suites of bare PTX do: with pointers to its input and output.
//
//   run_ptx FILE KERNEL THREADS INPUT OUTPUT_BYTES
//
// INPUT is in hexadecimal digits; `-` passes the output pointer twice. Runs one block with 1024
// bytes of dynamic shared memory. Prints the output in hexadecimal digits, then a line with the
// error of the kernel, if any, and a line per finding.
#include "fixture.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace simulator;

std::string contents(const char *path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<unsigned char> bytes_of(const std::string &digits)
{
    std::vector<unsigned char> bytes;
    for (std::size_t k = 0; k + 1 < digits.size(); k += 2)
        bytes.push_back(static_cast<unsigned char>(std::stoi(digits.substr(k, 2), nullptr, 16)));
    return bytes;
}

void run(char **argv)
{
    tests::buffer<unsigned char> output(std::vector<unsigned char>(std::stoul(argv[5])));
    const bool has_input = std::string(argv[4]) != "-";
    const tests::buffer<unsigned char> input(bytes_of(has_input ? argv[4] : "00"));
    const address pointers[] = {has_input ? input.at : output.at, output.at};

    module m(contents(argv[1]), 0);
    const kernel_info *k = m.find_kernel(argv[2]);
    if (k == nullptr) throw std::runtime_error(std::string("no kernel ") + argv[2]);
    launch how;
    how.grid = {1, 1, 1};
    how.block = {static_cast<std::uint32_t>(std::stoul(argv[3])), 1, 1};
    how.dynamic_shared = 1024;
    how.parameters = std::as_bytes(std::span(pointers)).first(k->parameter_bytes);
    const outcome end = m.run(*k, how);

    for (unsigned char b : output.values()) std::printf("%02x", b);
    std::puts("");
    if (end.error != 0) std::printf("ended: %d %s\n", end.error, end.message.c_str());
    for (const finding &f : findings::instance().all())
        std::printf("found: %s %s\n", f.detail.c_str(), f.where.c_str());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: run_ptx FILE KERNEL THREADS INPUT OUTPUT_BYTES\n");
        return 2;
    }
    try {
        run(argv);
    } catch (const std::exception &e) {
        std::printf("\nended: %s\n", e.what());
    }
    return 0;
}
