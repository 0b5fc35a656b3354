// The kernel's Landlock: a process gives up every file but those below some folders, and more.
#pragma once

namespace grading {

// Made before the fork; afterwards only system calls are safe. Move-only.
class landlock_rules {
public:
    // Nothing is allowed at first. Throws nothing: where there is no Landlock, enforce says so.
    landlock_rules();
    ~landlock_rules();
    landlock_rules(landlock_rules &&other) noexcept;
    landlock_rules &operator=(landlock_rules &&) = delete;

    // A file or folder may be read, and run; where `writable`, changed too, and a device spoken to.
    // What is not there is left out. Makes system calls alone.
    void allow(const char *path, bool writable) const;
    // For this process and what it starts, for good. False where the kernel refuses. Without
    // privileges, no_new_privs must be set.
    bool enforce() const;

private:
    int rules_ = -1;
    unsigned long long handled_ = 0; // the rights to files that this kernel knows
};

} // namespace grading
