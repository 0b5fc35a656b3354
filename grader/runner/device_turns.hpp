// Turns of several grading processes at one GPU: whoever measures has the device alone.
//
// Processes that grade speed cases side by side share the device for what is not measured (loading
// arguments, reading results), and one has it to itself while it measures. Cases in which the host
// takes part in what is measured have the machine to themselves: no other process may compute.
// Locks belong to a process, so the kernel frees those of one that ends, however it ends.
//
// A process takes the device before it takes cores, and gives cores back before it takes the device
// again; so no two can wait for each other. Without begin_turns() nothing here does anything.
#pragma once

namespace grading {

// Makes the locks. Call it before processes are forked that shall share them. Throws
// std::system_error if the machine gives no memory for them.
void begin_turns();
void end_turns(); // later scopes do nothing; call it once the other processes have ended

enum class turn { none, shared, alone };

// Keeps the device shared, or alone, or not at all, for its lifetime; an inner scope replaces an
// outer one of this process, which is taken again afterwards.
class device_turn {
public:
    explicit device_turn(turn t);
    ~device_turn();
    device_turn(const device_turn &) = delete;
    device_turn &operator=(const device_turn &) = delete;

private:
    int outer_;
};

bool device_is_held(); // by this process, or nobody takes turns

// In its lifetime this process computes on its cores, and waits while another has the machine to
// itself. Without the device it gives that back and has it again afterwards; a process that keeps
// the device must not ask for it within.
class host_turn {
public:
    enum kept { without_device, with_device };
    explicit host_turn(kept device = without_device);
    ~host_turn();
    host_turn(const host_turn &) = delete;
    host_turn &operator=(const host_turn &) = delete;

private:
    int outer_;
    bool counted_, gave_back_;
};

// Keeps the device alone and all other processes from computing, for its lifetime.
class machine_turn {
public:
    explicit machine_turn(bool needed);
    ~machine_turn();
    machine_turn(const machine_turn &) = delete;
    machine_turn &operator=(const machine_turn &) = delete;

private:
    bool needed_;
    int outer_ = 0;
};

} // namespace grading
