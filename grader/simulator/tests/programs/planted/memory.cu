// Faults of addresses and of values: outside, after the end of life, misaligned, never written.

__global__ void read_at(const int *data, int *out, int at) { *out = data[at]; }      // reads one
__global__ void write_at(int *data, int at) { data[at] = 1; }                        // writes one
__global__ void add_at(int *data, int at) { atomicAdd(data + at, 1); }               // adds
__global__ void write_bytes(char *data) { data[threadIdx.x] = 1; }                   // a byte each
__global__ void fill(int *data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 3; } // fills
__global__ void use_vector(const int4 *data, int *out, int at)
{
    const int4 v = data[at]; // four at once
    *out = v.x + v.y + v.z + v.w;
}
__global__ void use_double(const double *data, double *out) { *out = 2 * *data; } // a double

__global__ void squared_index(int *data, int row, int rows)
{
    data[row * rows / rows] = 1; // the product overflows
}

__global__ void in_shared(int *out, int at)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + at]; // in shared memory
}

__global__ void in_dynamic(int *out)
{
    extern __shared__ int tile_of_launch[];
    tile_of_launch[threadIdx.x] = threadIdx.x; // asked for at launch
    __syncthreads();
    out[threadIdx.x] = tile_of_launch[blockDim.x - 1 - threadIdx.x];
}

__global__ void shared_vector(int4 *out, int at)
{
    __shared__ alignas(16) int tile[8];
    if (threadIdx.x < 8) tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    *out = *reinterpret_cast<int4 *>(tile + at); // of shared words
}

__global__ void in_local(int *out, int at, int count)
{
    int mine[8];
    for (int i = 0; i < count; ++i) mine[(i + at) % 16] = i * at; // a thread's own
    *out = mine[out[1] % 8] + mine[7];                            // of its own
}

__constant__ int fixed[4] = {1, 2, 3, 4};
__global__ void from_constant(int *out, int at) { *out = fixed[at]; } // a constant
__global__ void to_constant(int *out, bool faulty)
{
    *(faulty ? const_cast<int *>(fixed) : out) = 5; // to a constant
}

__device__ int variable[4];
__global__ void to_variable(int at) { variable[at] = 1; } // to a variable

__global__ void half_a_tile(int *out, int written)
{
    __shared__ int tile[64];
    if (threadIdx.x < written) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // of a half
}

// Sets the value only where there is one; nvcc loads it in any case.
__device__ __noinline__ bool take(const int *from, int &value)
{
    if (*from == 0) return false;
    value = *from;
    return true;
}
__global__ void take_one(const int *from, int *out, bool checked)
{
    int value;
    const bool taken = take(from, value);
    *out = taken || !checked ? value : -1; // taken or not
}

__global__ void from_heap(int *out, int at, bool freed)
{
    int *mine = static_cast<int *>(malloc(64));
    for (int i = 0; i < 16; ++i) mine[i] = i;
    if (freed) free(mine);
    *out = mine[at]; // from the heap
    if (!freed) free(mine);
}

__global__ void free_twice(bool faulty)
{
    void *p = malloc(16);
    free(p);
    if (faulty) free(p); // again
}

__global__ void call_through(int (*const *function)(int), int *out)
{
    *out = (*function)(3); // a call
}
__device__ int doubled(int v) { return 2 * v; }
__device__ int (*chosen)(int) = doubled;
__device__ long long squared(long long v) { return v * v; }
__device__ long long (*another)(long long) = squared;
__global__ void choose(int (**function)(int), bool right)
{
    *function = right ? chosen : reinterpret_cast<int (*)(int)>(another);
}

__device__ __noinline__ int depth(const volatile int *n, int at)
{
    return at == 0 ? *n : 1 + depth(n, at - 1); // deeper
}
__global__ void recurse(int *out, int levels) { *out = depth(out, levels); }

static std::vector<planted> memory_faults()
{
    using enum simulator::finding_kind;
    return {
        {"a read before the start",
         "// reads one",
         out_of_bounds,
         {"before the start of `data`"},
         [](bool f) { read_at<<<1, 1>>>(numbers(8), unwritten<int>(1), f ? -1 : 0); }},
        {"a write just past the end",
         "// writes one",
         out_of_bounds,
         {"end of `data` (32 bytes)"},
         [](bool f) { write_at<<<1, 1>>>(numbers(8), f ? 8 : 7); }},
        {"a write far beyond",
         "// writes one",
         out_of_bounds,
         {"write_at"},
         [](bool f) { write_at<<<1, 1>>>(numbers(8), f ? 1 << 28 : 7); }},
        {"an atomic past the end",
         "// adds",
         out_of_bounds,
         {"`data`"},
         [](bool f) { add_at<<<1, 1>>>(numbers(8), f ? 9 : 0); }},
        {"one byte too many",
         "// a byte each",
         out_of_bounds,
         {"just past the end of `data`"},
         [](bool f) { write_bytes<<<1, 33>>>(unwritten<char>(f ? 32 : 33)); }},
        {"elements asked for, bytes given",
         "// fills",
         out_of_bounds,
         {"past the end"},
         [](bool f) {
             int *p = nullptr;
             CHECK_CUDA(cudaMalloc(&p, f ? 64 : 64 * sizeof(int)));
             fill<<<2, 32>>>(p);
         }},
        {"a vector over the end",
         "// four at once",
         out_of_bounds,
         {"`data` (40 bytes)"},
         [](bool f) {
             auto *p = reinterpret_cast<int4 *>(numbers(10));
             use_vector<<<1, 1>>>(p, unwritten<int>(1), f ? 2 : 1);
         }},
        {"an index that overflows",
         "// the product",
         out_of_bounds,
         {"squared_index", "never allocated"},
         [](bool f) { squared_index<<<1, 1>>>(numbers(1), f ? 50000 : 0, 50000); }},
        {"past shared memory",
         "// in shared memory",
         out_of_bounds,
         {"byte 128 of 128"},
         [](bool f) { in_shared<<<1, 32>>>(unwritten<int>(32), f); }},
        {"below shared memory",
         "// in shared memory",
         out_of_bounds,
         {"shared memory"},
         [](bool f) { in_shared<<<1, 32>>>(unwritten<int>(32), -int(f)); }},
        {"dynamic shared memory too small",
         "// asked for",
         out_of_bounds,
         {"byte 128 of 128"},
         [](bool f) { in_dynamic<<<1, 64, f ? 128 : 256>>>(unwritten<int>(64)); }},
        {"dynamic shared memory forgotten",
         "// asked for",
         out_of_bounds,
         {"byte 0 of 0"},
         [](bool f) { in_dynamic<<<1, 64, f ? 0 : 256>>>(unwritten<int>(64)); }},
        {"past a thread's own array",
         "// a thread's own",
         out_of_bounds,
         {"local memory"},
         [](bool f) { in_local<<<1, 1>>>(numbers(2), f, 8); }},
        {"a thread's own array in part",
         "// of its own",
         uninitialised,
         {"local memory"},
         [](bool f) { in_local<<<1, 1>>>(numbers(2), 0, f ? 7 : 8); }},
        {"past a constant",
         "// a constant",
         out_of_bounds,
         {"fixed` (16 bytes)"},
         [](bool f) { from_constant<<<1, 1>>>(unwritten<int>(1), f ? 4 : 3); }},
        {"a constant written",
         "// to a constant",
         read_only,
         {"fixed` (16 bytes)"},
         [](bool f) { to_constant<<<1, 1>>>(unwritten<int>(1), f); }},
        {"past a variable",
         "// to a variable",
         out_of_bounds,
         {"variable` (16 bytes)"},
         [](bool f) { to_variable<<<1, 1>>>(f ? 4 : 3); }},
        {"a pointer to host memory",
         "// reads one",
         host_pointer,
         {"no device memory"},
         [](bool f) {
             static int host[4];
             read_at<<<1, 1>>>(f ? host : numbers(4), unwritten<int>(1), 1);
         }},
        {"a null pointer",
         "// reads one",
         null_pointer,
         {"null pointer"},
         [](bool f) { read_at<<<1, 1>>>(f ? nullptr : numbers(4), unwritten<int>(1), 1); }},
        {"use after free",
         "// reads one",
         use_after_free,
         {"`data`"},
         [](bool f) {
             int *p = numbers(4);
             if (f) CHECK_CUDA(cudaFree(p));
             read_at<<<1, 1>>>(p, unwritten<int>(1), 1);
         }},
        {"use after a free in the stream",
         "// reads one",
         use_after_free,
         {"freed"},
         [](bool f) {
             int *p = numbers(4);
             if (f) CHECK_CUDA(cudaFreeAsync(p, nullptr));
             read_at<<<1, 1>>>(p, unwritten<int>(1), 1);
         }},
        {"a misaligned vector",
         "// four at once",
         misaligned,
         {"`data`"},
         [](bool f) {
             auto *p = reinterpret_cast<int4 *>(numbers(16) + f);
             use_vector<<<1, 1>>>(p, unwritten<int>(1), 1);
         }},
        {"a misaligned double",
         "// a double",
         misaligned,
         {"`data`"},
         [](bool f) {
             auto *p = reinterpret_cast<double *>(numbers(16) + f);
             use_double<<<1, 1>>>(p, unwritten<double>(1));
         }},
        {"a misaligned vector of shared memory",
         "// of shared words",
         misaligned,
         {"`tile`"},
         [](bool f) { shared_vector<<<1, 32>>>(unwritten<int4>(1), f); }},
        {"memory that nobody wrote",
         "// reads one",
         uninitialised,
         {"`data`"},
         [](bool f) {
             int *p = unwritten<int>(4);
             if (!f) CHECK_CUDA(cudaMemset(p, 0, 16));
             read_at<<<1, 1>>>(p, unwritten<int>(1), 1);
         }},
        {"memory set in part",
         "// reads one",
         uninitialised,
         {"`data`"},
         [](bool f) {
             int *p = unwritten<int>(8);
             CHECK_CUDA(cudaMemset(p, 0, f ? 8 : 8 * sizeof(int)));
             read_at<<<1, 1>>>(p, unwritten<int>(1), 7);
         }},
        {"a vector written in part",
         "// four at once",
         uninitialised,
         {"`data`"},
         [](bool f) {
             int *p = unwritten<int>(4);
             CHECK_CUDA(cudaMemset(p, 0, f ? 12 : 16));
             use_vector<<<1, 1>>>(reinterpret_cast<int4 *>(p), unwritten<int>(1), 0);
         }},
        {"unwritten memory copied, then read",
         "// reads one",
         uninitialised,
         {"`data`"},
         [](bool f) {
             int *from = f ? unwritten<int>(4) : numbers(4), *to = unwritten<int>(4);
             CHECK_CUDA(cudaMemcpy(to, from, 16, cudaMemcpyDeviceToDevice));
             read_at<<<1, 1>>>(to, unwritten<int>(1), 1);
         }},
        {"shared memory written in part",
         "// of a half",
         uninitialised,
         {"`tile`"},
         [](bool f) { half_a_tile<<<1, 64>>>(unwritten<int>(64), f ? 40 : 64); }},
        {"a value that a function did not set",
         "// taken or not",
         uninitialised,
         {"local memory"},
         [](bool f) { take_one<<<1, 1>>>(numbers(1), unwritten<int>(1), !f); }},
        {"past a piece of the heap",
         "// from the heap",
         out_of_bounds,
         {"64 bytes"},
         [](bool f) { from_heap<<<1, 1>>>(unwritten<int>(1), f ? 16 : 15, false); }},
        {"the heap after free",
         "// from the heap",
         use_after_free,
         {"freed"},
         [](bool f) { from_heap<<<1, 1>>>(unwritten<int>(1), 1, f); }},
        {"the heap freed twice",
         "// again",
         trap,
         {"second time"},
         [](bool f) { free_twice<<<1, 1>>>(f); }},
        {"a call through data",
         "// a call",
         trap,
         {"no device function"},
         [](bool f) {
             using function = int (*)(int);
             auto *to = upload(std::vector<function>(1));
             if (!f) choose<<<1, 1>>>(to, true);
             call_through<<<1, 1>>>(to, unwritten<int>(1));
         }},
        {"a call through a pointer of another type",
         "// a call",
         trap,
         {"other parameters"},
         [](bool f) {
             auto *to = unwritten<int (*)(int)>(1);
             choose<<<1, 1>>>(to, !f);
             call_through<<<1, 1>>>(to, unwritten<int>(1));
         }},
        {"a recursion without an end",
         "// deeper",
         trap,
         {"recursion"},
         [](bool f) { recurse<<<1, 1>>>(numbers(1), f ? 1 << 20 : 20); }},
    };
}
