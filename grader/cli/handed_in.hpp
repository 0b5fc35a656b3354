// The files of a class, as course systems hand them over: whose each is, and which lab's.
#pragma once

#include <string>
#include <vector>

namespace cli {

// What one student handed in: folders, and files that lay beside everybody else's.
struct student_files {
    struct lone_file {
        std::string path, name; // `name`: the student's own, without what the system put before it
    };
    std::string name; // "Lovelace Ada_12345"
    std::vector<std::string> folders;
    std::vector<lone_file> files;
};
struct class_files {
    std::vector<student_files> students; // by name
    std::vector<std::string> skipped;    // what is neither a folder nor a .cu file
};
// Reads a folder that holds one folder a student (of any name; Moodle's NAME_ID_assignsubmission_
// file_), .cu files named after the student (Moodle's the same with the file's name behind it,
// Canvas's NAME_ID_ID_FILE, ada_02_coalescing.cu), or both. `labs`: the names of all labs. Throws
// usage_error where that is no such folder, machine_error where it cannot be read.
class_files read_class(const std::string &folder, const std::vector<std::string> &labs);

// Where a student's file for a lab lies, or why there is none that can be graded.
struct handed_in {
    std::string file, problem;
    bool unreadable = false; // nobody could look, so that nothing is known to be missing
};
// Looks through the student's folders, at most a few deep, for LAB/stub.cu; so it finds
// labs/LAB/stub.cu of a whole edition too. Right in a folder, and among lone files, a file with the
// lab's name in its own is the lab's. With `only_lab` so is stub.cu, or else any one .cu file that
// names no other of `labs`. Links are not followed.
handed_in find_file(const student_files &student, const std::string &lab, bool only_lab,
                    const std::vector<std::string> &labs);

} // namespace cli
