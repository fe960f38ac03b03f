// SPDX-License-Identifier: Apache-2.0
// What nsys and ncu are given, and what is made of what they say; here they are scripts.
#include "tools/import/convert/own_tools.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/unit/tools/import/convert/convert_case.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

class OwnTools : public ConvertCase {
 protected:
  // What was made; a refusal where nothing was.
  std::string exported(Exporter exporter, const std::string& script,
                       const std::string& report = "/a/run.rep") {
    const std::string tool = program("bin/tool", script);
    TemporaryFolder place;
    try {
      const std::string made = export_report(exporter, tool, report, place);
      made_ = made.substr(place.path().size());
      return text_of(made);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
  }
  // How the refusal of a program that says that on its standard error names the reason.
  std::string reason(const std::string& said, Exporter exporter = Exporter::nsys) {
    const std::string text =
        exported(exporter, "cat '" + folder.file("said", said) + "' >&2\nexit 3", "/a/run.rep");
    const std::string head = std::string("/a/run.rep could not be exported by ") +
                             (exporter == Exporter::nsys ? "nsys: " : "ncu: ");
    EXPECT_TRUE(text.starts_with(head) && text.ends_with(".")) << text;
    return text.starts_with(head) ? text.substr(head.size(), text.size() - head.size() - 1) : text;
  }

  std::string made_;  // the file's name
};

constexpr const char* kArguments = "for each in \"$@\"; do echo \"$each\"; done";

TEST_F(OwnTools, NsysIsAskedForSqlite) {
  const std::string text = exported(
      Exporter::nsys, std::string("all=$(") + kArguments +
                          ")\nwhile [ \"$1\" != -o ]; do shift; done\necho \"$all\" >\"$2\"");
  EXPECT_EQ(made_, "/export.sqlite");
  EXPECT_TRUE(text.starts_with("export\n--type\nsqlite\n-o\n" + folder.at("tmp/gable-import-")));
  EXPECT_TRUE(text.ends_with("/export.sqlite\n/a/run.rep\n")) << text;
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(OwnTools, NcuPrintsItsRawPage) {
  EXPECT_EQ(exported(Exporter::ncu, std::string(kArguments) + "\necho unseen >&2"),
            "--import\n/a/run.rep\n--csv\n--page\nraw\n--print-units\nbase\n");
  EXPECT_EQ(made_, "/export.csv");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(OwnTools, AReportThatBeginsWithADashIsNoOption) {
  EXPECT_EQ(exported(Exporter::ncu, "echo \"$2\"", "-run"), "./-run\n");
  EXPECT_EQ(exported(Exporter::ncu, "echo \"$2\"", "run-"), "run-\n");
}

TEST_F(OwnTools, NumbersHaveAPointAndTheRestOfTheEnvironmentStays) {
  set("LC_ALL", "de_DE.UTF-8");
  set("GABLE_TEST_WORD", "kept");
  EXPECT_EQ(exported(Exporter::ncu, "echo \"$LC_ALL $GABLE_TEST_WORD $(env | grep -c ^LC_ALL=)\""),
            "C kept 1\n");
}

TEST_F(OwnTools, NothingOfWhatTheUserTypesGoesToIt) {
  const int before = dup(0);
  const int typed = open(folder.file("typed", "by the user").c_str(), O_RDONLY);
  dup2(typed, 0);
  EXPECT_EQ(exported(Exporter::ncu, "cat; echo end"), "end\n");
  dup2(before, 0);
  close(before);
  close(typed);
}

TEST_F(OwnTools, ItGetsSignalsAsAnyProgramInAGroupOfItsOwn) {
  std::map<int, struct sigaction> before;
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
    sigaction(number, &ignored, &before[number]);
  sigset_t mask, none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &mask);
  const std::string text = exported(Exporter::ncu,
                                    "[ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] && echo own\nsed "
                                    "-n '/^Sig[IB]/p' /proc/self/status");
  EXPECT_TRUE(text.starts_with("own\nSigBlk:\t0000000000000000\n")) << text;
  const auto ignores = std::stoull(text.substr(text.find("SigIgn:") + 8), nullptr, 16);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &mask, &after);
  for (const auto& [number, action] : before) {
    EXPECT_EQ(ignores >> (number - 1) & 1, 0u) << number;
    EXPECT_EQ(sigismember(&after, number), 0) << number;
    sigaction(number, &action, nullptr);
  }
}

TEST_F(OwnTools, TheReasonIsTheFirstLineThatLooksLikeAnErrorElseTheLast) {
  EXPECT_EQ(reason("Processing...\n  ERROR: too new. \nUnable to go on\nbye\n"), "ERROR: too new");
  EXPECT_EQ(reason("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(reason("one\ntwo"), "two");
  for (const char* word : {"Error", "Failed", "FATAL", "cannot", "unable", "Could not", "invalid"})
    EXPECT_EQ(reason(std::string("x ") + word + " y\nlast\n"), std::string("x ") + word + " y");
  const std::string far = std::string(36, 'x') + "fail";  // within the first 40
  EXPECT_EQ(reason(far + "\nlast\n"), far);
  EXPECT_EQ(reason("x" + far + "\nlast\n"), "last");
}

TEST_F(OwnTools, TheFirst64KiBAreReadForIt) {
  std::string lines;
  for (int i = 0; i < 32000; ++i) lines += "a\n";
  EXPECT_EQ(reason(lines + "error near\n"), "error near");
  for (int i = 0; i < 1000; ++i) lines += "b\n";
  EXPECT_EQ(reason(lines + "error far\n"), "b");
}

TEST_F(OwnTools, OrHowItEnded) {
  EXPECT_EQ(reason(""), "it ended with 3");
  const std::string head = "/a/run.rep could not be exported by nsys: ";
  EXPECT_EQ(exported(Exporter::nsys, "kill -9 $$"), head + "signal 9 ended it.");
  EXPECT_EQ(exported(Exporter::nsys, "exit 0"), head + "it wrote nothing.");
  EXPECT_EQ(exported(Exporter::nsys, "while [ \"$1\" != -o ]; do shift; done\n: >\"$2\""),
            head + "it wrote nothing.");
  EXPECT_EQ(exported(Exporter::nsys, "echo said\nexit 1"), head + "said.") << "on standard output";
}

TEST_F(OwnTools, NcuSaysItOnStandardOutput) {
  const std::string head = "/a/run.rep could not be exported by ncu: ";
  EXPECT_EQ(exported(Exporter::ncu, "echo '==ERROR== no report.'\nexit 1"),
            head + "==ERROR== no report.");
  EXPECT_EQ(exported(Exporter::ncu, "echo out\necho err >&2\nexit 1"), head + "err.");
}

TEST_F(OwnTools, WhatFailsIsNotTakenForAnExport) {
  EXPECT_NE(exported(Exporter::ncu, "echo '\"ID\"'\nexit 1").find("could not be exported"),
            std::string::npos);
}

TEST_F(OwnTools, WhatIsNoProgramCannotBeRun) {
  TemporaryFolder place;
  try {
    (void)export_report(Exporter::nsys, folder.at("none"), "/a/run.rep", place);
    FAIL();
  } catch (const WrongUse& problem) {
    EXPECT_TRUE(std::string(problem.what()).starts_with(folder.at("none cannot be run: No such")));
  }
}

TEST_F(OwnTools, WhenItHasEndedASignalIsForThisProgram) {
  EXPECT_EXIT(
      {
        TemporaryFolder place;
        (void)export_report(Exporter::ncu, program("bin/tool", "echo x"), "/a/run.rep", place);
        (void)raise(SIGTERM);
        _exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(OwnTools, ASignalWhileItRunsEndsBoth) {
  EXPECT_EXIT(
      {
        TemporaryFolder place;
        (void)export_report(Exporter::ncu, program("bin/tool", "kill -TERM $PPID\nsleep 5"),
                            "/a/run.rep", place);
        _exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(OwnTools, AreLookedForInTheAbsolutePlacesOfPath) {
  const std::string first = program("first/nsys", ""), second = program("second/nsys", "");
  program("second/ncu", "");
  folder.file("plain/nsys", "no program");
  std::filesystem::create_directories(folder.at("folder/nsys"));
  const auto found = [&](const std::string& path) {
    set("PATH", path);
    return find_exporter(Exporter::nsys);
  };
  EXPECT_EQ(found(folder.at("first:") + folder.at("second")), first);
  EXPECT_EQ(found(folder.at("plain:") + folder.at("folder::") + folder.at("second")), second);
  EXPECT_EQ(found("/none:" + folder.at("first:")), first);
  EXPECT_EQ(find_exporter(Exporter::ncu).find(folder.path()), std::string::npos);
  set("PATH", folder.at("second"));
  EXPECT_EQ(find_exporter(Exporter::ncu), folder.at("second/ncu"));
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(found("first:" + folder.at("second")), second) << "anybody's program";
  std::filesystem::current_path(was);
}

TEST_F(OwnTools, ThenInTheUsersCuda) {
  const std::string program_there = program("cuda/bin/ncu", "");
  set("PATH", "/none");
  set("CUDA_HOME", folder.at("cuda"));
  EXPECT_EQ(find_exporter(Exporter::ncu), program_there);
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  set("CUDA_HOME", "cuda");
  EXPECT_NE(find_exporter(Exporter::ncu), "cuda/bin/ncu");
  std::filesystem::current_path(was);
  set("PATH", folder.at("cuda/bin"));
  set("CUDA_HOME", "/none");
  EXPECT_EQ(find_exporter(Exporter::ncu), program_there);
}

TEST_F(OwnTools, ThenWhereTheyAreInstalledTheNewestFirst) {
  set("PATH", "/none");
  const auto found = [&](Exporter exporter, const std::string& path) {
    const std::string made = program(path, "");
    const std::string there = find_exporter(exporter, folder.path());
    return there == made ? std::string("it") : there;
  };
  const std::string nsight = "opt/nvidia/nsight-";
  EXPECT_EQ(find_exporter(Exporter::nsys, folder.path()), "");
  for (const std::string& path :
       {nsight + "systems-2/2025.1/target-linux-x64/nsys", nsight + "systems/2024.1/bin/nsys",
        nsight + "systems/2025.1/bin/nsys", nsight + "systems/bin/nsys",
        std::string("usr/local/cuda-12.1/bin/nsys"), std::string("usr/local/cuda-12.2/bin/nsys"),
        std::string("usr/local/cuda/bin/nsys")})
    EXPECT_EQ(found(Exporter::nsys, path), "it") << path;
  EXPECT_EQ(find_exporter(Exporter::ncu, folder.path()), "");
  for (const std::string& path :
       {nsight + "compute/2024.1/ncu", nsight + "compute/2025.1/ncu", nsight + "compute-3/ncu",
        std::string("usr/local/cuda-12.1/bin/ncu"), std::string("usr/local/cuda/bin/ncu")})
    EXPECT_EQ(found(Exporter::ncu, path), "it") << path;
  folder.file("usr/local/cuda-12.9/bin/ncu", "no program");
  std::filesystem::remove(folder.at("usr/local/cuda/bin/ncu"));
  EXPECT_EQ(find_exporter(Exporter::ncu, folder.path()), folder.at("usr/local/cuda-12.1/bin/ncu"));
}

}  // namespace
}  // namespace gable
