// SPDX-License-Identifier: Apache-2.0
// What a user sees of the program itself: exit codes, one sentence when something is wrong, nothing
// on standard output that was not asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/tools/run_gable.h"

namespace gable::tests {
namespace {

struct WrongUse {
  std::string words, sentence;
};

class CliWrongUse : public testing::TestWithParam<WrongUse> {};

TEST_P(CliWrongUse, IsTwoAndOneSentence) {
  const Ran ran = run_gable(GetParam().words);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "gable: " + GetParam().sentence + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Each, CliWrongUse,
    testing::Values(
        WrongUse{"env --acive 3",
                 "There is no option or argument '--acive' here; gable env --help lists what it "
                 "takes."},
        WrongUse{"env --active 3 4",
                 "There is no option or argument '4' here; gable env --help lists what it takes."},
        WrongUse{"env --active", "--active needs a value; gable env --help lists what it takes."},
        WrongUse{"env --active none",
                 "--active takes a whole number from 1 to 4294967295, not 'none'."},
        WrongUse{"profile", "There is no program to run: gable profile [options] -- program args."},
        WrongUse{"profile --quiet --",
                 "There is no program to run: gable profile [options] -- program args."},
        WrongUse{"profile --acive 3 -- true",
                 "There is no option or argument '--acive' here; gable profile --help lists what "
                 "it takes."},
        WrongUse{
            "profile --recordings r.jsonl -- true",
            "There is no option or argument '--recordings' here; gable profile --help lists what "
            "it takes."},
        WrongUse{"profile --step-range '[' -- true",
                 "--step-range takes a regular expression, and '[' is not one: unmatched "
                 "bracket."},
        WrongUse{"profile --output /nonexistent/folder/r.json -- true",
                 "The folder /nonexistent/folder of --output does not exist: create it first."},
        WrongUse{
            "profile --playback /nonexistent.jsonl",
            "The recording /nonexistent.jsonl is not a file: --playback takes a recording such "
            "as those in tests/data/recordings."},
        WrongUse{"report", "gable report needs FILE; gable report --help lists what it takes."},
        WrongUse{"dump", "gable dump needs REC; gable dump --help lists what it takes."}),
    [](const auto& one) { return "N" + std::to_string(one.index); });

TEST(Cli, AnUnknownCommandNamesTheKnownOnes) {
  const Ran ran = run_gable("profle -- true");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.rfind("gable: There is no command 'profle'; the commands are ", 0), 0U)
      << ran.err;
  for (const char* name : {"dump", "env", "profile", "report"}) {
    EXPECT_NE(ran.err.find(name, ran.err.find("are ")), std::string::npos) << name;
  }
}

TEST(Cli, HelpIsThePageAndGood) {
  const Ran overview = run_gable("--help");
  EXPECT_EQ(overview.code, 0);
  EXPECT_EQ(overview.out.rfind("# gable\n", 0), 0U);
  const Ran page = run_gable("profile --active 3 --help");
  EXPECT_EQ(page.code, 0);
  EXPECT_EQ(page.out.rfind("# gable profile\n", 0), 0U);
  EXPECT_EQ(page.err, "");
  EXPECT_EQ(run_gable("help profile").out, page.out);
  EXPECT_EQ(run_gable("help").out, overview.out);
  const Ran unknown = run_gable("help profle");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err.rfind("gable: There is no command 'profle'; ", 0), 0U) << unknown.err;
  // A program's own --help is the program's.
  EXPECT_NE(run_gable("profile echo --help").out.rfind("# gable", 0), 0U);
}

TEST(Cli, WithoutACommandPrintsTheOverviewAsAnError) {
  const Ran ran = run_gable("");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("# gable\n", 0), 0U);
}

#if GABLE_HAVE_INJECT

TEST(Profile, EndsAsTheProgramDid) {
  EXPECT_EQ(run_gable("profile -- true").code, 0);
  EXPECT_EQ(run_gable("profile -- sh -c 'exit 37'").code, 37);
  EXPECT_EQ(run_gable("profile sh -c 'exit 255'").code, 255);
  EXPECT_EQ(run_gable("profile -- sh -c 'kill -SEGV $$'").code, 128 + 11);
  EXPECT_EQ(run_gable("profile -- sh -c 'kill -KILL $$'").code, 128 + 9);
}

TEST(Profile, SaysWhenTheProgramDoesNotStart) {
  const Ran missing = run_gable("profile -- gable-no-such-program");
  EXPECT_EQ(missing.code, 127);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(missing.err, "gable: The program 'gable-no-such-program' was not found in PATH.\n");
  const Ran folder = run_gable("profile -- /");
  EXPECT_EQ(folder.code, 126);
  EXPECT_EQ(folder.err, "gable: The program '/' cannot be run: Permission denied.\n");
}

TEST(Profile, LeavesTheStandardStreamsToTheProgram) {
  const Ran ran =
      run_shell("printf 'a\\0b' | '" GABLE_PROGRAM "' profile -- sh -c 'cat; echo to-err >&2' ");
  EXPECT_EQ(ran.out, std::string("a\0b", 3));
  EXPECT_EQ(ran.err.rfind("to-err\ngable: No report was written: ", 0), 0U) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 2);
}

TEST(Profile, GivesTheProgramItsWordsUnchanged) {
  const Ran ran = run_gable("profile -- printf '<%s>' 'a b' '' -- --active '*' \"it's\"");
  EXPECT_EQ(ran.out, "<a b><><--><--active><*><it's>");
  EXPECT_EQ(run_gable("profile echo x -- y").out, "x -- y\n");
}

TEST(Profile, SetsTheLibraryAndItsOptions) {
  const std::string folder = temporary_folder();
  const Ran ran = run_gable(
      "profile --phases time --step-range 'my step' -- sh -c "
      "'echo \"$CUDA_INJECTION64_PATH|$NVTX_INJECTION64_PATH|$GABLE_OPTIONS\"'",
      "cd " + folder + " &&");
  const std::string library = GABLE_LIBRARY;
  EXPECT_EQ(ran.out.rfind(library + "|" + library + "|--output=" + folder +
                              "/gable-%h-%p.json --phases=time '--step-range=my step' --manifest=/",
                          0),
            0U)
      << ran.out;
}

TEST(Profile, OptionsOfTheCommandLineWinOverTheEnvironment) {
  const Ran ran =
      run_gable("profile --active 5 -- sh -c 'echo \"$GABLE_OPTIONS\"'",
                "GABLE_OPTIONS='--active 4 --window 9 --manifest=/outer --playback=/outer'");
  EXPECT_NE(ran.out.find(" --active=5 --window=9 --manifest=/"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("outer"), std::string::npos) << ran.out;
  const Ran wrong = run_gable("profile -- echo ran", "GABLE_OPTIONS='--active x'");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err,
            "gable: GABLE_OPTIONS: --active takes a whole number from 1 to 4294967295, not 'x'.\n");
}

TEST(Profile, LeavesThePlaceToAnotherTool) {
  const std::string other = "CUDA_INJECTION64_PATH=/opt/other/libTool.so";
  const std::string print = "sh -c 'echo \"$CUDA_INJECTION64_PATH|$GABLE_OPTIONS\"; exit 3'";
  const Ran left = run_gable("profile -- " + print, other);
  EXPECT_EQ(left.code, 3);
  EXPECT_EQ(left.out, "/opt/other/libTool.so|\n");
  EXPECT_NE(left.err.find("CUDA_INJECTION64_PATH is /opt/other/libTool.so"), std::string::npos);
  EXPECT_NE(left.err.find("unset that variable, or take the tool's place with --force-inject"),
            std::string::npos)
      << left.err;
  EXPECT_EQ(std::count(left.err.begin(), left.err.end(), '\n'), 1);

  const Ran taken = run_gable("profile --force-inject -- " + print, other);
  EXPECT_EQ(taken.code, 3);
  EXPECT_EQ(taken.out.rfind(std::string(GABLE_LIBRARY) + "|--output=", 0), 0U) << taken.out;
}

TEST(Profile, PassesASignalOnAndWaits) {
  // The program answers SIGTERM in its own way; a launcher that died of it would answer 143.
  const std::string folder = temporary_folder();
  const Ran ran = run_shell(
      "'" GABLE_PROGRAM "' profile -- sh -c 'trap \"echo told; exit 9\" TERM; touch " + folder +
      "/ready; while :; do sleep 0.05; done' & launcher=$!; "
      "while [ ! -e " +
      folder +
      "/ready ]; do sleep 0.02; done; kill -TERM $launcher; "
      "wait $launcher");
  EXPECT_EQ(ran.code, 9) << ran.err;
  EXPECT_EQ(ran.out, "told\n");
}

TEST(Profile, LeavesNoFileBehind) {
  const std::string folder = temporary_folder();
  const Ran ran =
      run_gable("profile -- sh -c 'ls $TMPDIR'", "cd " + folder + " && TMPDIR=" + folder);
  EXPECT_EQ(ran.out.rfind("gable-reports-", 0), 0U) << ran.out;  // the manifest, while it runs
  EXPECT_EQ(run_shell("ls -A " + folder).out, "");
}

TEST(Env, PrintsLinesThatAShellReadsBack) {
  const Ran ran =
      run_shell("eval \"$('" GABLE_PROGRAM
                "' env --step-range \"it's \\$HOME\" --active 9)\" && "
                "printf '%s\\n' \"$CUDA_INJECTION64_PATH\" \"$NVTX_INJECTION64_PATH\" && "
                "'" GABLE_PROGRAM "' profile -- sh -c 'echo \"$GABLE_OPTIONS\"'");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string library = GABLE_LIBRARY;
  EXPECT_EQ(ran.out.rfind(library + "\n" + library + "\n", 0), 0U) << ran.out;
  EXPECT_NE(ran.out.find("--active=9 '--step-range=it'\\''s $HOME'"), std::string::npos) << ran.out;
}

#endif  // GABLE_HAVE_INJECT

}  // namespace
}  // namespace gable::tests
