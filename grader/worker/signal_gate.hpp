// When signals reach a submission.
#pragma once

#include <signal.h>
#include <sys/time.h>

namespace grading {

// What a submission leaves for later must not run between its calls, where nobody counts or times
// it: signals wait there, and with each call end its timers and what it had signals do.
class signal_gate {
public:
    // From now on; handlers that ran before main are gone.
    void close_for_good()
    {
        guarded_ = true;
        close();
        forget();
    }
    void open() { mask(SIG_UNBLOCK); }
    void close() { mask(SIG_BLOCK); }
    // What is pending goes with the handlers; those of before are back.
    void forget()
    {
        if (!guarded_) return;
        const itimerval never{};
        for (auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
            setitimer(timer, &never, nullptr);
        for (int n = 1; n < NSIG; ++n) {
            struct sigaction now {};
            if (sigaction(n, nullptr, &now) != 0 || now.sa_handler == SIG_DFL) continue;
            signal(n, SIG_IGN);
            if (now.sa_handler != SIG_IGN) signal(n, SIG_DFL);
        }
    }

private:
    void mask(int how) const
    {
        if (!guarded_) return;
        sigset_t all;
        sigfillset(&all);
        for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
            sigdelset(&all, own); // a thread's own faults
        pthread_sigmask(how, &all, nullptr);
    }
    bool guarded_ = false; // debuggers and profilers, which replay a call, may need theirs
};

inline signal_gate &signals()
{
    static signal_gate one;
    return one;
}

} // namespace grading
