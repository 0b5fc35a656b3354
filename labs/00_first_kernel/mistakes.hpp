// The wrong answers of lab 00 that the grader recognises, and its advice for kernels that go wrong.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <vector>

using bytes = std::vector<unsigned char>;
using floats = std::vector<float>;
using ints = std::vector<int>;

std::vector<grading::misconception<int>> wrong_numbers();
// Known wrong results of saxpy, for the inputs a, x and y and the result `got`.
std::vector<grading::misconception<float>> wrong_saxpy(float a, const floats &x, const floats &y,
                                                       const floats &got);
std::vector<grading::misconception<unsigned char>> wrong_mirrors(const bytes &in, int width,
                                                                 int height);
// Known wrong results of saxpy_host: those of saxpy, and of copies.
std::vector<grading::misconception<float>> wrong_copies(float a, const floats &x, const floats &y,
                                                        const floats &got);
// The elements that get no pixel where a coordinate is computed wrongly.
std::vector<grading::elements_left_out> unwritten_mirrors(int width, int height);
std::vector<grading::misconception<float>> wrong_differences(const floats &in);
std::vector<grading::misconception<int>> wrong_reversals(const ints &data);
std::vector<grading::misconception<int>> wrong_sums(const ints &in);

namespace advice {

inline constexpr const char *one_element_each =
    "Several threads use the same element. Each thread has one of its own: thread t "
    "has element t, and needs no loop.";
inline constexpr const char *one_store_each =
    "Each of the 64 threads runs all of the kernel, a loop in it, too. Thread t stores out[t] "
    "once, and needs no loop.";
inline constexpr const char *sixty_four =
    "out has 64 elements, 0 to 63, and there are 64 threads: which element does this thread "
    "choose? Thread t has element t.";
inline constexpr const char *as_many_threads =
    "This thread has no element: the kernel has no condition, so there must be as many threads as "
    "elements, which is another number in each call.";
inline constexpr const char *first_of_the_block =
    "The grid has one thread for each element. Which i does this thread compute? Block 0 begins "
    "at element 0, and each block where the one before it ends.";
inline constexpr const char *launch =
    "A launch has the kernel's name, the number of blocks and of threads per block, "
    "and the arguments: name<<<blocks, threads>>>(arguments);";
inline constexpr const char *one_block =
    "Each block has a thread 0, and they all change x[0]. This kernel looks at "
    "threadIdx.x alone, so its n threads must be in one block. The number of blocks "
    "comes first: <<<blocks, threads>>>.";
inline constexpr const char *launch_line =
    "Which line should launch the kernel, and does the function return before it?";
inline constexpr const char *guard =
    "This thread has no element: the blocks have more threads together than there are "
    "elements. Let it do nothing: the store needs the condition i < n.";
inline constexpr const char *shared_elements =
    "Threads have the same i: they work on the same element, and other elements have no thread. "
    "How many threads are there in the blocks before this one? blockIdx.x is the number of those "
    "blocks, blockDim.x the number of threads in each.";
inline constexpr const char *both_coordinates =
    "Which x and y has this thread? If x is not below width, or y not below height, it "
    "has no pixel and must do nothing. If both are, look at the column that it stores "
    "to: the pixel of column 0 goes to column width - 1, not to width. Row y begins at element y * "
    "width, and the column is added.";
inline constexpr const char *copies =
    "Are both arrays copied to the device before the launch, and all of them? "
    "cudaMemcpy counts bytes: n * sizeof(float).";
inline constexpr const char *bytes_of_an_allocation =
    "How large is that array? cudaMalloc counts bytes, n * sizeof(float). If it is large enough, "
    "the kernel needs the condition i < n.";
inline constexpr const char *five_steps =
    "The steps: allocate, copy there, launch, copy back, free.";
inline constexpr const char *copy_back =
    "A kernel ran, and its result lies in device memory. cudaMemcpy with "
    "cudaMemcpyDeviceToHost copies it to y_host; its first argument is the target, "
    "and it counts bytes.";
inline constexpr const char *another_array_back =
    "An array was copied back that the kernel has not changed. The kernel stores to y, the third "
    "argument of saxpy: is that the array that you copy back?";
inline constexpr const char *free_both =
    "Call cudaFree for each pointer that cudaMalloc gave you, at the end of the "
    "function.";
inline constexpr const char *clear_the_error =
    "The launch was refused, as it should be. But its error is still in the runtime, where a later "
    "check finds it and blames another kernel. cudaGetLastError(), called after the launch, "
    "returns the error and clears it; cudaPeekAtLastError() only looks, check_launch() throws "
    "instead of returning it, and a call that waits for the device does not report it.";
inline constexpr const char *first_error_after =
    "A block has 1 to 1024 threads, and their number is the second one between <<< and >>>. Is the "
    "error what the first cudaGetLastError() after the launch "
    "returned? Before the launch there is no error yet; that call clears it, so that a second one "
    "returns 0; and a call that waits for the device does not report it.";
inline constexpr const char *last_difference =
    "Which is the last i for which in[i + 1] and out[i] exist? Change the condition "
    "so that no larger one gets through.";
inline constexpr const char *wait =
    "One of these threads uses an element that the other one writes. All threads of "
    "the block must have stored before any of them loads what another stored: at "
    "__syncthreads() they wait for each other.";
inline constexpr const char *wait_before_each_step =
    "Each step uses what other threads have stored: the first one the elements, each later one "
    "the sums of the step before. So all threads of the block must wait at a barrier before each "
    "step, also before the first. Where many threads add to the same element, no barrier helps: "
    "let each add to an element of its own. The thread that adds last, thread 0, has the block's "
    "sum and stores it; another one would have to wait once more.";
inline constexpr const char *one_sum_per_block =
    "Each block stores one sum, out[blockIdx.x], when it is complete, and one thread alone does "
    "that. Until then the threads add up in shared memory.";
inline constexpr const char *all_must_come =
    "A barrier in a branch, or behind a return, is reached by some threads, which may "
    "then wait for the others for ever. All threads of the block must reach it: put it before the "
    "condition.";
inline constexpr const char *many_at_work =
    "Threads run in groups of 32, and in most steps of this kernel few of them work: "
    "they wait for one that adds many elements alone. Let half of the threads add one "
    "pair each, then half of those.";
inline constexpr const char *sums_of_their_own =
    "Atomic additions to the same address happen one after another. Let half of the "
    "threads add in the first step, each to a sum of its own.";
inline constexpr const char *each_adds_all =
    "Many threads work, but each of them adds up all elements. In the first step 128 threads add "
    "one pair each, then 64, then 32: all together 255 additions.";
inline constexpr const char *one_pixel_each =
    "Several threads store to the same element. Row y begins at element y * width, and is `width` "
    "pixels long: which element does this line store to?";
inline constexpr const char *thread_0_in_each_block =
    "out[0] alone was stored. blockIdx.x, the number of the block, is 0 in all 64 threads: the "
    "number of a thread in its block is threadIdx.x.";
inline constexpr const char *no_thread_beyond =
    "The threads beyond the right edge, whose x is width or more, have no pixel. They "
    "must do nothing.";

} // namespace advice
