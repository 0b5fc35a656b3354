// Workers of the clock's tests: programs that keep their buffers in host memory and sleep while a
// device would work. One that claims to be a simulator also plays the device, which then holds the
// buffers and does the work.
#pragma once

#include <filesystem>

constexpr double naive_ms = 8;  // of a call of naive's; any other takes 1 ms, unless it is slow
constexpr int marked_form = -7; // first element of an input in the submission's own form

// Plays the worker whose behaviour the program's name selects, until no request comes.
int play_worker(const std::filesystem::path &program);

// Links `program` into `folder`, once per kind of worker.
void link_workers(const std::filesystem::path &program, const std::filesystem::path &folder);
