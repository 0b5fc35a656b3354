// Tests which threads count as the submission's and which as the driver's.
#include "worker/left_threads.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

using grading::left_threads;

namespace {

// A library of that name. It starts a thread that waits until the test ends it.
class library_with_thread {
public:
    explicit library_with_thread(const std::string &name)
    {
        char folder[] = "/tmp/left_threads.XXXXXX";
        REQUIRE(mkdtemp(folder) != nullptr);
        folder_ = folder;
        std::ofstream(folder_ + "/library.c")
            << "#include <pthread.h>\n"
               "static pthread_t thread;\n"
               "static pthread_barrier_t barrier;\n"
               "static void *wait(void *x) { pthread_barrier_wait(&barrier); return x; }\n"
               "void begin() { pthread_barrier_init(&barrier, 0, 2);\n"
               "    pthread_create(&thread, 0, wait, 0); }\n"
               "void end() { pthread_barrier_wait(&barrier); pthread_join(thread, 0); }\n";
        const std::string file = folder_ + "/" + name;
        REQUIRE(std::system(
                    ("cc -shared -fPIC -o " + file + " " + folder_ + "/library.c").c_str()) == 0);
        library_ = dlopen(file.c_str(), RTLD_NOW);
        REQUIRE(library_ != nullptr);
        call("begin");
    }
    ~library_with_thread()
    {
        call("end");
        dlclose(library_);
        std::filesystem::remove_all(folder_);
    }
    library_with_thread(const library_with_thread &) = delete;

private:
    void call(const char *function) { reinterpret_cast<void (*)()>(dlsym(library_, function))(); }
    std::string folder_;
    void *library_ = nullptr;
};

} // namespace

TEST_CASE("a thread of C++ counts until it has ended")
{
    REQUIRE(left_threads() == 0);
    std::promise<void> end;
    std::thread thread([&] { end.get_future().wait(); });
    CHECK(left_threads() == 1);
    CHECK(left_threads(1) == 0);
    end.set_value();
    thread.join();
    CHECK(left_threads() == 0);
}

TEST_CASE("the driver's threads do not count, and others' do")
{
    {
        const library_with_thread driver("libcuda.so.1");
        CHECK(left_threads() == 0);
        const library_with_thread other("libhelper.so");
        CHECK(left_threads() == 1);
    }
    CHECK(left_threads() == 0);
}

TEST_CASE("a thread that the C library starts for a timer counts")
{
    sigevent how{};
    how.sigev_notify = SIGEV_THREAD;
    how.sigev_notify_function = [](sigval) {};
    timer_t timer{};
    REQUIRE(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
    CHECK(left_threads() == 1);
    timer_delete(timer);
}
