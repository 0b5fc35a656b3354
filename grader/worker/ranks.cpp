// The ranks of an Open MPI job, and their keepers.
#include "ranks.hpp"

#include "devices.hpp"
#include "rank_messages.hpp"
#include "simulator/runtime/harness.h"

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <mpi-ext.h> // needs mpi.h before it

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace grading {

namespace {

int connection_to(const char *address)
{
    sockaddr_un at{};
    at.sun_family = AF_UNIX; // abstract names start with a zero byte
    std::strncpy(at.sun_path + 1, address, sizeof at.sun_path - 2);
    auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + strlen(address));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return connect(fd, reinterpret_cast<sockaddr *>(&at), length) == 0 ? fd : -1;
}

std::vector<int> receive_descriptors(int from, std::size_t count)
{
    char byte;
    alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
    iovec data{&byte, 1};
    msghdr m{};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    std::vector<int> fds(count, -1);
    if (recvmsg(from, &m, 0) != 1) return {};
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_len != CMSG_LEN(count * sizeof(int))) return {};
    std::memcpy(fds.data(), CMSG_DATA(c), count * sizeof(int));
    return fds;
}

// Ends the process and sends the reason for the message to the student.
[[noreturn]] void end_rank(const std::string &why)
{
    rank_end e;
    e.status = 1 << 8; // waitpid's status of an exit with 1
    std::strncpy(e.text, why.c_str(), sizeof e.text - 1);
    std::fflush(nullptr);
    send(socket_fd, &e, sizeof e, MSG_NOSIGNAL);
    _exit(1);
}

void stop_at_error(MPI_Comm *, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(*code, text, &length);
    end_rank(text);
}

bool mpi_is_cuda_aware = false; // MPI accepts device pointers and sends their memory

bool on_all_ranks(bool here)
{
    int all = here;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

// Sends `from` to the next rank and receives `to` from the previous one, each `n` elements. Returns
// true if the right elements arrived.
bool exchange_succeeds(int *from, int *to, int n)
{
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(int);
    std::vector<int> sent(static_cast<std::size_t>(n), 20240229 + rank), got(sent.size());
    cudaMemcpy(from, sent.data(), bytes, cudaMemcpyDefault);
    cudaMemcpy(to, got.data(), bytes, cudaMemcpyDefault);
    const int error = PMPI_Sendrecv(from, n, MPI_INT, next, 0, to, n, MPI_INT, before, 0,
                                    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cudaMemcpy(got.data(), to, bytes, cudaMemcpyDefault);
    return error == MPI_SUCCESS && got == std::vector<int>(got.size(), 20240229 + before);
}

// Called on all ranks. A CUDA-aware library may still fail with these devices, so exchange a short
// and a long message, which MPI sends by its eager and its rendezvous protocol.
bool probe_cuda_awareness()
{
    constexpr int long_message = 1 << 18; // elements: 1 MiB
    if (simulator_is_elsewhere || !MPIX_Query_cuda_support()) return false;
    int *memory = nullptr;
    bool here = cudaSetDevice(home_device()) == cudaSuccess &&
                cudaMalloc(reinterpret_cast<void **>(&memory), 2 * long_message * sizeof(int)) ==
                    cudaSuccess;
    bool all = on_all_ranks(here);
    for (int n : {1, long_message})
        all = all && on_all_ranks(exchange_succeeds(memory, memory + long_message, n));
    cudaFree(memory);
    cudaGetLastError(); // clear the error, which later calls must not see
    return all;
}

// Gives the rank its descriptors and executes this program again, because the code that a
// submission ran before main may not survive a fork.
[[noreturn]] void become_rank(int connection, std::vector<int> fds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fds.insert(fds.begin(), connection);
    for (int &fd : fds) fd = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    const int places[] = {socket_fd, input_fd, output_fd, 1, device_fd};
    for (std::size_t i = 0; i < fds.size(); ++i) dup2(fds[i], places[i]);
    dup2(1, 2);
    char program[] = "/proc/self/exe", argument[] = "--rank";
    char *arguments[] = {program, argument, nullptr};
    execv(program, arguments);
    _exit(127);
}

} // namespace

int keep_rank(const char *address)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char *rank_in_job = std::getenv("OMPI_COMM_WORLD_RANK");
    const rank_hello h{.rank = rank_in_job ? std::atoi(rank_in_job) : 0};
    int connection = connection_to(address);
    if (connection < 0 || send(connection, &h, sizeof h, MSG_NOSIGNAL) != sizeof h) return 2;
    std::vector<int> fds = receive_descriptors(connection, simulator_is_elsewhere ? 4 : 3);
    if (fds.empty()) return 2;
    pid_t rank = fork();
    if (rank == 0) become_rank(connection, fds);
    rank_end e;
    while (waitpid(rank, &e.status, 0) < 0 && errno == EINTR) {
    }
    send(connection, &e, sizeof e, MSG_NOSIGNAL);
    _exit(WIFEXITED(e.status) ? WEXITSTATUS(e.status) : 128 + WTERMSIG(e.status));
}

int be_rank(int (*serve)())
{
    int level = 0;
    if (PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mpi_is_cuda_aware = probe_cuda_awareness();
    MPI_Errhandler stop;
    MPI_Comm_create_errhandler(stop_at_error, &stop);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, stop);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, stop);
    if (int status = serve()) _exit(status);
    PMPI_Finalize();
    return 0;
}

} // namespace grading

// Submissions may call this; lab.hpp declares it.
bool device_buffers_work() { return grading::mpi_is_cuda_aware; }

// Only the worker may call these; MPI's profiling interface lets a program replace its functions.
[[noreturn]] static void refuse_to_begin(const std::string &function)
{
    grading::end_rank(function + " was called, and MPI runs already when a contract function is");
}
extern "C" int MPI_Init(int *, char ***) { refuse_to_begin("MPI_Init"); }
extern "C" int MPI_Init_thread(int *, char ***, int, int *) { refuse_to_begin("MPI_Init_thread"); }
extern "C" int MPI_Finalize()
{
    grading::end_rank("MPI_Finalize was called, and the next call needs MPI again");
}
extern "C" int MPI_Abort(MPI_Comm, int code)
{
    grading::end_rank("MPI_Abort was called with " + std::to_string(code));
}
