// The files of a class as course systems export them, matched to students and labs.
#pragma once

#include <string>
#include <vector>

namespace cli {

// How a course system numbers a student in the names of its downloads: Moodle by the participant
// of the assignment, Canvas by the user. Empty for names given by hand.
struct course_identity {
    std::string system = {}, id = {}; // "moodle" or "canvas", and the number
};

// The submission of one student: folders, and single files from a folder shared by the class.
struct student_files {
    struct lone_file {
        std::string path, name; // `name`: the student's own, without the course system's prefix
    };
    std::string name; // "Lovelace Ada_12345", in the bytes of the folder
    std::vector<std::string> folders;
    std::vector<lone_file> files;
    std::vector<std::string> archives = {}; // that the course system names as this student's
    course_identity known_as = {};
    std::string shown = {}; // `name` on one line of safe text, unlike any other's
};
struct class_files {
    std::vector<student_files> students; // by name
    std::vector<std::string> skipped;    // entries that are nobody's
};
// Reads a folder that holds one folder per student (of any name; Moodle: NAME_ID_assignsubmission_
// file_), .cu files named after the student (Moodle: the same prefix before the file's name;
// Canvas: NAME_ID_ID_FILE; or ada_02_coalescing.cu), or both. `labs`: the names of all labs. Throws
// usage_error if the folder is missing or holds neither, machine_error if it cannot be read.
class_files read_class(const std::string &folder, const std::vector<std::string> &labs);

// The path of a student's file for a lab, or the reason why no file can be graded.
struct handed_in {
    std::string file = {}, problem = {};
    std::vector<std::string> files = {}; // all that may be meant; `file` if there is only one
    bool unreadable = false; // the file, or a folder that may hold it, could not be read
};
// Searches the student's folders, a few levels deep, for LAB/stub.cu, which also finds
// labs/LAB/stub.cu of a whole edition. At the top of a folder, and among the single files, a file
// belongs to the lab whose name its own contains. With `only_lab`, stub.cu is accepted there too,
// or else a .cu file that names none of `labs`, if there is only one. Links are not followed.
handed_in find_file(const student_files &student, const std::string &lab, bool only_lab,
                    const std::vector<std::string> &labs);

} // namespace cli
