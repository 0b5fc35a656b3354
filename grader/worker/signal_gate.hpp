// Blocks signals to a submission between its calls.
#pragma once

#include <signal.h>
#include <sys/time.h>

namespace grading {

// A submission's deferred code must not run between its calls, where it is neither counted nor
// timed. So signals are blocked there, and the end of a call removes its interval timers and its
// handlers.
class signal_gate {
public:
    // Blocks signals from now on and removes handlers that were set before main.
    void close_for_good()
    {
        guarded_ = true;
        close();
        forget();
    }
    void open() { mask(SIG_UNBLOCK); }
    void close() { mask(SIG_BLOCK); }
    // Drops interval timers and pending signals, and restores the default handlers.
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
            sigdelset(&all, own); // faults of the thread itself stay deliverable
        pthread_sigmask(how, &all, nullptr);
    }
    bool guarded_ = false; // a replay under a debugger or profiler may need its signals
};

inline signal_gate &signals()
{
    static signal_gate one;
    return one;
}

} // namespace grading
