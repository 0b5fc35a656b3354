// Loads that nvcc hoists above the condition that guards them: no finding, as long as it does
// not.
#include "check.hpp"

struct stack {
    int values[4], n;
};

__device__ __noinline__ bool pop(stack &s, int &value)
{
    if (s.n == 0) return false;
    value = s.values[--s.n];
    return true;
}

// Values of one row; lane by lane there are more of them.
__device__ stack filled(const int *in)
{
    stack s;
    s.n = 0;
    for (int i = 0; i < threadIdx.x % 5; ++i) s.values[s.n++] = in[i];
    return s;
}

// nvcc loads `value` after each call, and a select takes it or 0.
__global__ void sums(const int *in, int *out)
{
    stack s = filled(in);
    int total = 0;
    for (int i = 0; i < 6; ++i) {
        int value;
        if (pop(s, value)) total += value;
    }
    out[threadIdx.x] = total;
}

__global__ void tops(const int *in, int *out)
{
    stack s = filled(in);
    int value;
    out[threadIdx.x] = pop(s, value) ? value : -1;
}

__global__ void large_tops(const int *in, int *out)
{
    stack s = filled(in);
    int value;
    out[threadIdx.x] = pop(s, value) && value > 10;
}

// A list of blocks of memory from the device's heap, as programs that try it have it.
struct node {
    node *next;
    int value;
};

__device__ bool remove_first(node *&list, int &value)
{
    if (list == nullptr) return false;
    node *first = list;
    list = first->next;
    value = first->value;
    delete first;
    return true;
}

__global__ void lists(const int *in, int *out)
{
    node *list = nullptr;
    for (int i = 0; i < threadIdx.x % 5; ++i) list = new node{list, in[i]};
    int total = 0, value;
    while (remove_first(list, value)) total = 3 * total + value;
    out[threadIdx.x] = remove_first(list, value) ? value : total;
}

int main()
{
    const std::vector<int> values = {4, 8, 15, 16};
    const int *in = upload(values);
    int *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 64 * sizeof(int)));
    const auto check = [&](auto expected) {
        const std::vector<int> got = download(out, 64);
        for (int t = 0; t < 64; ++t) CHECK(got[t] == expected(t % 5));
    };
    sums<<<1, 64>>>(in, out);
    check([&](int n) {
        int total = 0;
        for (int i = 0; i < n; ++i) total += values[i];
        return total;
    });
    tops<<<1, 64>>>(in, out);
    check([&](int n) { return n > 0 ? values[n - 1] : -1; });
    large_tops<<<1, 64>>>(in, out);
    check([&](int n) { return int(n > 0 && values[n - 1] > 10); });
    lists<<<1, 64>>>(in, out);
    check([&](int n) {
        int total = 0;
        while (n-- > 0) total = 3 * total + values[n];
        return total;
    });
    return done();
}
