// Assembles the filter, which compares each call with lists, and some calls by an argument.
#include "system_calls.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <asm/sockios.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>

namespace grading {

namespace {

#if defined __x86_64__
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined __aarch64__
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the numbers of system calls are known for x86-64 and 64-bit Arm"
#endif

// Calls that act on the whole machine, on namespaces, or on memory and files of other processes.
constexpr int always_refused[] = {
    SYS_acct,
    SYS_add_key,
    SYS_adjtimex,
    SYS_bpf,
    SYS_chroot,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_fanotify_init,
    SYS_finit_module,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_init_module,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_kcmp,
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_keyctl,
    SYS_migrate_pages,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_open_tree,
    SYS_perf_event_open,
    SYS_personality,
    SYS_pidfd_getfd,
    SYS_pivot_root,
    SYS_process_madvise,
    SYS_ptrace,
    SYS_quotactl,
    443, // quotactl_fd, of Linux 5.14
    SYS_reboot,
    SYS_request_key,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_setns,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_umount2,
    SYS_unshare,
    SYS_userfaultfd,
    SYS_vhangup,
#ifdef __x86_64__
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
#endif
};

// Calls that start or reach processes, reach the network, or take memory that outlives a process.
constexpr int process_calls[] = {
    SYS_ioprio_set,
    SYS_move_pages,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_connect,
    SYS_inotify_add_watch,
    SYS_mq_open,
    SYS_msgget,
    SYS_semget,
    SYS_setpriority,
    SYS_shmget,
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
#endif
};

// Calls whose first argument is a process: only the own id is allowed, or 0 where that means
// itself.
constexpr int signal_calls[] = {SYS_kill, SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo,
                                SYS_rt_tgsigqueueinfo};
constexpr int scheduling_calls[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setattr,
                                    SYS_sched_setparam, SYS_sched_setscheduler};

// Calls that change objects which Landlock does not guard.
constexpr int attribute_calls[] = {
    SYS_fchmod,    SYS_fchmodat,     SYS_fchown,    SYS_fchownat,   SYS_fremovexattr,
    SYS_fsetxattr, SYS_lremovexattr, SYS_lsetxattr, SYS_mq_open,    SYS_mq_unlink,
    SYS_msgctl,    SYS_msgget,       SYS_msgrcv,    SYS_msgsnd,     SYS_removexattr,
    SYS_semctl,    SYS_semget,       SYS_semop,     SYS_semtimedop, SYS_setxattr,
    SYS_shmat,     SYS_shmctl,       SYS_shmget,    SYS_truncate,   SYS_utimensat,
#ifdef __x86_64__
    SYS_chmod,     SYS_chown,        SYS_futimesat, SYS_lchown,     SYS_utime,
    SYS_utimes,
#endif
};

constexpr std::uint32_t first_unknown = 452; // fchmodat2, of Linux 6.6

constexpr std::uint32_t new_namespaces = CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET |
                                         CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS;

constexpr std::uint32_t socket_type_mask = 0xf; // the argument also holds flags

constexpr sock_filter statement(std::uint16_t code, std::uint32_t value)
{
    return {code, 0, 0, value};
}
constexpr sock_filter jump(std::uint16_t code, std::uint32_t value, std::uint8_t yes,
                           std::uint8_t no)
{
    return {code, yes, no, value};
}
constexpr sock_filter load(std::uint32_t offset)
{
    return statement(BPF_LD | BPF_W | BPF_ABS, offset);
}
// Returns the offset of an argument's low half (little-endian): all compared ids, flags and
// commands have 32 bits.
constexpr std::uint32_t argument(int i)
{
    return offsetof(seccomp_data, args) + static_cast<std::uint32_t>(i) * 8;
}
constexpr sock_filter return_action(std::uint32_t what) { return statement(BPF_RET | BPF_K, what); }
constexpr sock_filter allow = return_action(SECCOMP_RET_ALLOW);
constexpr sock_filter refuse(int error)
{
    return return_action(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
}
constexpr std::uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K, any_bit = BPF_JMP | BPF_JSET | BPF_K,
                        at_least = BPF_JMP | BPF_JGE | BPF_K;

} // namespace

system_call_filter::system_call_filter(filter_options options)
{
    auto add = [&](std::initializer_list<sock_filter> code) {
        program_.insert(program_.end(), code);
    };
    auto refuse_call = [&](int number, int error = EPERM) {
        add({jump(equal, static_cast<std::uint32_t>(number), 0, 1), refuse(error)});
    };
    // `rest` decides on this call and returns; its first instruction loads an argument.
    auto decide = [&](int number, std::initializer_list<sock_filter> rest) {
        add({jump(equal, static_cast<std::uint32_t>(number), 0,
                  static_cast<std::uint8_t>(rest.size()))});
        add(rest);
    };

    add({load(offsetof(seccomp_data, arch)), jump(equal, architecture, 1, 0),
         return_action(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))});
#ifdef __x86_64__
    add({jump(at_least, 0x40000000, 0, 1), refuse(ENOSYS)}); // the x32 ABI's numbers
#endif
    // Refuse calls that are newer than this list: their effects are unknown here.
    add({jump(at_least, first_unknown, 0, 1), refuse(ENOSYS)});
    for (int number : always_refused) refuse_call(number);
    // A filter cannot read clone3's flags, which lie in memory; the C library falls back to clone.
    refuse_call(SYS_clone3, ENOSYS);
    if (options.processes)
        decide(SYS_clone,
               {load(argument(0)), jump(any_bit, new_namespaces, 0, 1), refuse(EPERM), allow});
    else {
        for (int number : process_calls) refuse_call(number);
        // A socket pair reaches no other process, except that datagrams can carry an address. A
        // single SOCK_SEQPACKET socket reaches no process without connect.
        decide(SYS_socketpair,
               {load(argument(1)), statement(BPF_ALU | BPF_AND | BPF_K, socket_type_mask),
                jump(equal, SOCK_DGRAM, 1, 0), jump(equal, SOCK_RAW, 0, 1), refuse(EPERM), allow});
        if (options.local_sockets)
            decide(SYS_socket, {load(argument(0)), jump(equal, AF_UNIX, 0, 3), load(argument(1)),
                                statement(BPF_ALU | BPF_AND | BPF_K, socket_type_mask),
                                jump(equal, SOCK_SEQPACKET, 1, 0), refuse(EPERM), allow});
        else // descriptors in flight in a message belong to no process
            for (int number : {SYS_socket, SYS_sendmsg, SYS_sendmmsg}) refuse_call(number);
        decide(SYS_clone, {load(argument(0)), jump(any_bit, new_namespaces, 1, 0),
                           jump(any_bit, CLONE_THREAD, 1, 0), refuse(EPERM), allow});
        for (int number : signal_calls) {
            decide(number, {load(argument(0)), jump(equal, 0, 1, 0), refuse(EPERM), allow});
            own_id_.push_back(program_.size() - 3);
        }
        for (int number : scheduling_calls) {
            decide(number, {load(argument(0)), jump(equal, 0, 2, 0), jump(equal, 0, 1, 0),
                            refuse(EPERM), allow});
            own_id_.push_back(program_.size() - 3);
        }
        // A file can signal any process that F_SETOWN names.
        decide(SYS_fcntl,
               {load(argument(1)), jump(equal, F_SETOWN, 2, 0), jump(equal, F_SETOWN_EX, 1, 0),
                jump(equal, F_SETSIG, 0, 1), refuse(EPERM), allow});
        // A child must keep its parent-death signal; the ioctls below would signal processes,
        // change file flags or type into a terminal.
        decide(SYS_prctl, {load(argument(0)), jump(equal, PR_SET_PDEATHSIG, 1, 0),
                           jump(equal, PR_SET_CHILD_SUBREAPER, 0, 1), refuse(EPERM), allow});
        decide(SYS_ioctl,
               {load(argument(1)), jump(equal, FIOSETOWN, 4, 0), jump(equal, SIOCSPGRP, 3, 0),
                jump(equal, FS_IOC_SETFLAGS, 2, 0), jump(equal, FS_IOC_FSSETXATTR, 1, 0),
                jump(equal, TIOCSTI, 0, 1), refuse(EPERM), allow});
    }
    if (!options.attributes)
        for (int number : attribute_calls) refuse_call(number);
    add({allow});
}

bool system_call_filter::install() const
{
    // Patching the constant program is safe: after the fork the pages are this process's own copy.
    auto *code = const_cast<sock_filter *>(program_.data());
    for (std::size_t i : own_id_) code[i].k = static_cast<std::uint32_t>(getpid());
    sock_fprog whole{static_cast<unsigned short>(program_.size()), code};
    // Without the flag, kernels before 5.16 slow the process down by side-channel mitigations.
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &whole) ==
           0;
}

} // namespace grading
