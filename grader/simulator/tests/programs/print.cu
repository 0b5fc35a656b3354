// Device printf goes to standard output, with its formats, whatever `stdout` names; and is counted.
#include "check.hpp"

#include <string>
#include <unistd.h>

__global__ void say(int n, double x, const char *word)
{
    if (threadIdx.x == 3)
        printf("thread %d of %u: %d%% %.3f [%5s] %llx %c\n", threadIdx.x, blockDim.x, n, x, "abc",
               0x123456789abcull, 'q');
    if (threadIdx.x == 40) printf("plain\n");
    if (word) printf("%s", word);
}

int main()
{
    std::fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    std::FILE *file = std::tmpfile();
    dup2(fileno(file), STDOUT_FILENO);
    std::FILE *usual = stdout, *other = std::tmpfile();
    stdout = other;
    say<<<1, 64>>>(42, 2.5, nullptr);
    const cudaError_t result = cudaDeviceSynchronize();
    stdout = usual;
    std::fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    CHECK_CUDA(result);
    std::string text(200, '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    CHECK(text == "thread 3 of 64: 42% 2.500 [  abc] 123456789abc q\nplain\n");
    std::fflush(other);
    CHECK(std::ftell(other) == 0);
    CHECK(counted("printed_bytes") == text.size());
    if (failures) std::printf("got: %s\n", text.c_str());
    return done();
}
