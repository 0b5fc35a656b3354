// Tests what a student is told about compile errors, by errors as nvcc 13.0 reports them.
#include "cli/submission/build_advice.hpp"

#include "cli_project.hpp"

#include <fmt/format.h>

using namespace cli;

namespace {

// `error` with its source line and a caret below the first of its characters equal to `at`.
std::string reported(const std::string &error, const std::string &source = {},
                     const std::string &at = {})
{
    const std::string place = "labs/00_first_kernel/stub.cu(4): error: ";
    if (source.empty()) return place + error + "\n";
    return fmt::format("{}{}\n  {}\n  {}^\n", place, error, source,
                       std::string(source.find(at), ' '));
}

void check_advice(const std::string &said, const std::string &words)
{
    const std::string advice = build_advice(said);
    CAPTURE(advice);
    CHECK(contains(advice, words));
}

} // namespace

TEST_CASE("a name of CUDA's that is misspelt is corrected")
{
    for (const auto &[wrong, right] :
         {std::pair{"threadidx", "is threadIdx"}, std::pair{"__syncthread", "is __syncthreads"},
          std::pair{"cudaDeviceSynchronise", "is cudaDeviceSynchronize"},
          std::pair{"__ballotsync", "is __ballot_sync"}, std::pair{"blockdim", "is blockDim"}})
        check_advice(reported(fmt::format("identifier \"{}\" is undefined", wrong)), right);
    check_advice(reported("identifier \"width_of\" is undefined"), "declare width_of before");
    check_advice(reported("identifier \"sum\" is undefined"), "declare sum before");
}

TEST_CASE("a call from the wrong side says which side it is for")
{
    check_advice(reported("calling a constexpr __host__ function(\"min\") from a __global__ "
                          "function(\"k\") is not allowed. The experimental flag "
                          "'--expt-relaxed-constexpr' can be used to allow this."),
                 "write min without std::");
    check_advice(reported("calling a constexpr __host__ function(\"sort\") from a __global__ "
                          "function(\"k\") is not allowed. The experimental flag "
                          "'--expt-relaxed-constexpr' can be used to allow this."),
                 "cannot call this function of the standard library");
    const std::string device_code = "error: identifier \"blocks_for\" is undefined in device code";
    check_advice(reported("calling a __host__ function(\"blocks_for(int)\") from a __global__ "
                          "function(\"k\") is not allowed") +
                     device_code,
                 "put __device__ before blocks_for");
    for (const char *called : {"check(    ::cudaError, const char *)", "cudaMemcpy",
                               "cudaError ::cudaMemcpyToSymbol<float [8]> (const T1 &)"})
        check_advice(reported(fmt::format("calling a __host__ function(\"{}\") from a __global__ "
                                          "function(\"k\") is not allowed",
                                          called)),
                     "is a call for the host");
    check_advice(
        reported("calling a __host__ function(\"cudaDeviceSynchronize\") from a __global__ "
                 "function(\"k\") is not allowed"),
        "wait for each other at __syncthreads()");
    check_advice(reported("calling a __host__ function(\"std::basic_ostream<char, "
                          "std::char_traits<char> >::operator <<(int)\") from a __global__ "
                          "function(\"k\") is not allowed"),
                 "printf works there");
    check_advice(reported("namespace \"std\" has no member \"cout\"", "std::cout << i;", "cout"),
                 "kernels have no std::cout");
    check_advice(reported("calling a __device__ function(\"__syncthreads\") from a __host__ "
                          "function(\"f\") is not allowed"),
                 "__syncthreads runs on the device: call it in a kernel");
}

TEST_CASE("arguments of the wrong type say what is taken")
{
    auto no_instance = [](const std::string &name, const std::string &types) {
        return reported(fmt::format("no instance of overloaded function \"{}\" matches the "
                                    "argument list\n            argument types are: ({})",
                                    name, types));
    };
    check_advice(no_instance("cudaMalloc", "float *, int"), "cudaMalloc(&x, bytes)");
    check_advice(no_instance("atomicAdd", "int, int"), "atomicAdd(&x[i], value)");
    check_advice(no_instance("__shfl_down_sync", "unsigned int, int *, int"), "one number");
    check_advice(no_instance("pow_of", "int"), "what pow_of takes");
    check_advice(no_instance("cudaMemcpyToSymbol", "float *, float, int"),
                 "(variable, from, bytes)");
    check_advice(no_instance("cudaMemcpyFromSymbol", "float, float *, int"),
                 "(to, variable, bytes)");
    const std::string count = "cudaGetDeviceCount(n);";
    check_advice(
        reported("argument of type \"int\" is incompatible with parameter of type \"int *\"", count,
                 "n);"),
        "cudaGetDeviceCount(&count)");
    check_advice(reported("no suitable conversion function from \"pair\" to \"pair *\" exists",
                          "first(p);", "p"),
                 "with a & before its name");
}

TEST_CASE("a call with too few or too many arguments says what the function takes")
{
    const std::string few = "too few arguments in function call",
                      many = "too many arguments in function call";
    check_advice(reported(few, "add_one<<<1, n>>>(x);", ");"), "is add_one the kernel");
    check_advice(reported(many, "add_one_each<<<1, n>>>(x, n);", "n);"),
                 "the line that declares add_one_each");
    check_advice(reported(few, "check(cudaMalloc(&x, bytes));", ");"), "check takes two arguments");
    check_advice(reported(few, "int n = cudaGetDeviceCount();", ");"), "the address of an int");
    check_advice(reported(few, "p = cudaGetDeviceProperties(f(0));", ");"),
                 "address of a cudaDeviceProp");
    check_advice(reported(few, "int b = blocks_for(n);", ");"), "declares blocks_for");
}

TEST_CASE("arrays, launches and results that CUDA does not have are explained")
{
    check_advice(reported("a variable length array cannot have static storage duration"),
                 "must be a constant");
    check_advice(
        reported("expression must have integral or unscoped enum type", "k<<1, 2>>(x);", "k"),
        "three brackets on each side");
    check_advice(reported("no suitable conversion function from \"const uint3\" to \"int\" exists"),
                 ".x, .y and .z");
    check_advice(
        reported("no operator \"*\" matches these operands\n            operand types are: "
                 "const unsigned int * const dim3",
                 "i = blockIdx.x * blockDim;", "* b"),
        ".x, .y and .z");
    check_advice(
        reported("a value of type \"void\" cannot be assigned to an entity of type \"int\"",
                 "error = do_nothing<<<1, 2>>>();", "="),
        "a launch returns nothing");
    check_advice(reported("expression must have pointer-to-object type but it has type \"int\"",
                          "out[y][x] = 1;", "x"),
                 "[y * width + x]");
    check_advice(
        reported("namespace \"std\" has no member \"strcpy\"", "std::strcpy(to, from);", "strcpy"),
        "#include <cstring>");
    check_advice(
        reported("expression must be a modifiable lvalue", "out->name = device.name;", "out"),
        "one character");
    check_advice(reported("a __global__ function must have a void return type"), "returns nothing");
    check_advice(reported("expression must be a modifiable lvalue", "in[i] = 1;", "in"),
                 "only be read");
    check_advice(reported("expected a \";\"", "int i = threadIdx.x x[i] = 1;", "x["),
                 "semicolon is missing");
    check_advice(reported("this declaration has no storage class or type specifier"),
                 "mend the first error");
    CHECK(first_error("") == "the compiler gave no reason");
}
