// The paragraphs below the options in each command's --help; at most 80 columns wide.
#pragma once

namespace cli {

inline constexpr const char *about_watch = R"(
Keep it open beside your editor. It looks at the file five times a second, so
that any editor and any network folder will do, and grades each new text once; a
save during a grade begins a new one. Keys: h one more hint, r grade again on
new inputs, q quit. Inputs stay the same until r.)";
inline constexpr const char *about_start = R"(
Without --open the stub is as it was handed out, as after reset. With --open the
file has the lab's functions, empty, and nothing else: kernels, launches and
memory are yours to design, which is worth trying from lab 04 on. Cases and
points are the same; hints speak of the TODOs of the stub that was handed out.
A file with work of yours is kept beside the progress.)";
inline constexpr const char *about_one_lab = R"(
LAB is a number (0, 00) or any part of one lab's name (firs).

Exit status: 0 done, 2 wrong usage, 99 a fault of the machine.)";
inline constexpr const char *about_doctor = R"(
Exit status: 0 all that is required is here, 99 something is missing.)";
inline constexpr const char *about_update = R"(
Run it in the new edition. It copies each stub that you have edited in the
folder OLD, your points, the hints that you had, and what reset has kept. Where
the stub itself has changed, or you have begun on the new one, your file is put
beside it as stub.cu.mine. OLD is only read, and nothing that you wrote is
overwritten; the command can be repeated.)";
inline constexpr const char *about_tests = R"(
Builds everything in build-test/ and runs the tests, or only those whose names
are given, as meson.build has them: ./workbook test text_test. They are about
the workbook, not about your answers: where you have edited a stub, they look at
the one that git has. To grade your stub: ./workbook grade)";

inline constexpr const char *about_explain = R"(
Grades on the simulator, GPU or not, and prints the kernels that ran: at each
line that touches memory the requests of its warps, the sectors (32 bytes of
global memory) or wavefronts (of shared memory) they took and how few would do;
and one sentence where that is more than need be, with the cause.

Exit status: 0 some kernel was explained, 1 there was none, 2 wrong usage, 99 a
fault of the machine or the workbook.)";

inline constexpr const char *about_release = R"(
Writes what git has at HEAD, without solutions/ and what shows them, to a folder
that is not there yet or empty. First it builds and tests a copy beside it: the
tests pass, every stub compiles and is not written, and lines added to it make
every answer right. That takes some minutes; where it fails nothing is left.)";

inline constexpr const char *about_autograde = R"(
FOLDER is what a course system makes of a class: a folder per student, or .cu
files named after the students (as Moodle and Canvas name them, or ada_LAB.cu).
In a student's folder it finds labs/LAB/stub.cu (a whole student edition),
LAB/stub.cu or a .cu file with the lab's name in its own; when one LAB is named,
also stub.cu or the only .cu file. Nothing else of an edition is read: the
graders are this workbook's. Files that it skips are listed. Each file is graded
as by grade --submission, on the same inputs, and only inside a sandbox: first
on the simulator, on all cores; then on the GPU, if there is one, one file at a
time.

An instructor's own cases in labs/LAB/held_back.cpp have columns of their own,
and only --json and the folder of results hold them; convert shows them with
--published, and to Gradescope, which hides them itself.

Points that nothing here can judge are open, neither reached nor lost; they are
listed below the table, with the reason. Points of the clock have a column of
their own. A row that a fault of the machine left ungraded has no points, which
is not zero.

Each grade is saved in FOLDER.results at once. After Ctrl-C or a kill the same
command goes on; it also grades files that have changed, and those that a fault
left ungraded.

Exit status: 0 every file that can be read was graded, whatever its points; 2
wrong usage; 77 --backend gpu or both, and there is no GPU; 99 a file was not
graded, by a fault of the machine or the workbook, or a table could not be
written.)";

inline constexpr const char *about_calibrate = R"(
Times naive, every rung and the solution of each lab on this GPU, which must do
nothing else meanwhile, and counts them on the simulator. A timed gate is kept
for this model of GPU where naive, and each rung that the counters fail, stay
below it and the solution is a quarter above; else the clock's points for it are
open, and no student loses them. Writes data/gates/MODEL.json: a copy of the
file counts on every machine with that model.

Exit status: 0 it was measured, 2 wrong usage, 77 there is no GPU, 99 a fault of
the machine left a gate untimed: another program used the GPU, for instance.)";

inline constexpr const char *about_convert = R"(
RESULT is what grade --json wrote, or autograde --json with --student; - reads
standard input. A failure of the submission and a fault of the machine stay
apart, and where a fault left a lab without a grade no points are given, not
zero. What a submission or a compiler wrote is cut and made safe.

  classroom50    result.json, in half points; handouts/instructor/classroom50/
                 has the autograder.py that calls this
  junit          for GitLab, Jenkins and what else reads it
  gradescope     results/results.json
  prairielearn   results/results.json, of at most 1 MB
  autolab        text, and the scores in the last line, a problem per lab
  coderunner     what a combinator template grader prints
  github         in a step of GitHub Actions: at most ten annotations, and
                 one per lab with open points, to standard output, and a
                 summary to the file of --output, or behind what is in the
                 file that GITHUB_STEP_SUMMARY names
  json           the student's own result, which ./workbook appeal takes
  text           for people
  page           a whole class, so without --student: one page of HTML with
                 points, verdicts, common mistakes, slow cases and faults

With --lms, RESULT is what autograde --json wrote, of a whole class, and
--roster the grading worksheet or the grades that Moodle exports, or the
gradebook that Canvas exports. It writes the file to upload there, with one
column filled in. Nobody is matched by guessing. A student without a grade that
is final (a fault of the machine, open points, nothing to grade) leaves the cell
as it was, and is named on standard error, as is who is on one side only.

Exit status: 0 it was converted, whatever the grade; 2 wrong usage, or RESULT is
no result file; 99 the machine could not write it.)";

inline constexpr const char *about_appeal = R"(
RESULT is what grade --json wrote, or autograde --json with --student. It names
the lab, the seed and the backend, with which FILE is graded again; then you
see each case whose verdict or points differ, and what may explain it: another
workbook, another file, another GPU, the clock. Without FILE it is the lab's
stub, if that still is the file that was graded.

Exit status: 0 every case has the same verdict and points, 1 some differ, 2
wrong usage, or RESULT is no result file, or FILE cannot be graded, 77 it needs
a GPU, 99 a fault of the machine or the workbook.)";

} // namespace cli
