// SPDX-License-Identifier: Apache-2.0
// How the player ends, and what it does with a recording that it cannot play.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/playback/player/played.h"

namespace gable::tests {
namespace {

TEST(PlayerEnds, AsTheRecordingSays) {
  struct Case {
    const char* how;
    int code, ends;
  };
  for (const Case& one :
       {Case{"return", 3, 3}, Case{"return", 0, 0}, Case{"exit", 4, 4}, Case{"_exit", 5, 5},
        Case{"quick_exit", 6, 6}, Case{"abort", 7, 128 + SIGABRT}, Case{"throw", 0, 128 + SIGABRT},
        Case{"signal", 0, 128 + SIGTERM}, Case{"signal", SIGUSR1, 128 + SIGUSR1}}) {
    const Played played = play(R"({"op":"push","name":"a"}
{"op":"exit","how":")" + std::string(one.how) +
                               R"(","code":)" + std::to_string(one.code) + R"(}
{"op":"print","text":"never\n"}
)");
    EXPECT_EQ(played.code, one.ends) << one.how;
    const bool ordered = one.how == std::string("return") || one.how == std::string("exit");
    EXPECT_EQ(played.out, std::string("t0 c0 push a in default, category 0\n") +
                              (ordered ? "ends at 10000000\n" : ""))
        << one.how;
    EXPECT_EQ(has(played.err, "the recording throws here"), one.how == std::string("throw"));
  }
}

TEST(PlayerEnds, OnAnyThreadAndWithoutWaiting) {
  const Played played = play(R"({"op":"launch","kernel":"small","time_ns":50000000}
{"op":"exit","how":"return","code":9,"thread":1}
{"op":"print","text":"never\n"}
)");
  EXPECT_EQ(played.code, 9);
  EXPECT_TRUE(has(played.out, "ends at 10002000\n")) << played.out;
  EXPECT_FALSE(has(played.out, "never"));
}

// As a program that reads its results does.
TEST(PlayerEnds, WhenTheGpuIsDone) {
  const Played played = play(R"({"op":"launch","kernel":"small","time_ns":50000000}
{"op":"context","context":2}
{"op":"launch","kernel":"small","time_ns":90000000,"context":2}
)");
  EXPECT_EQ(played.code, 0);
  EXPECT_TRUE(has(played.out, "ends at 90004000\n")) << played.out;
}

TEST(PlayerUse, IsOneRecording) {
  for (const char* words : {"", "a b"}) {
    const Played played = run_player(words);
    EXPECT_EQ(played.code, 2);
    EXPECT_EQ(played.err, "usage: gable-player RECORDING\n");
  }
  EXPECT_EQ(run_player("/gable/no/such/recording").code, 2);
}

TEST(PlayerUse, NeedsNobodyWhoLooksOn) {
  const std::string lines = R"({"op":"gable_step"}
{"op":"print","text":"played"}
)";
  for (const char* before : {"", "CUDA_INJECTION64_PATH=", "CUDA_INJECTION64_PATH=/gable/no.so"}) {
    const Played played = play_untraced(lines, before);
    EXPECT_EQ(played.code, 0) << played.err;
    EXPECT_EQ(played.out, "played");
    EXPECT_EQ(played.err, "");
  }
}

TEST(PlayerErrors, NameTheLineAndTheCall) {
  // The first line after the header and what it defines is the sixth.
  const Played fault = play_untraced(R"({"op":"launch","kernel":"small"}
{"fault":"call","call":"cuCtxSynchronize","code":1}
{"op":"sync"}
{"op":"print","text":"never"}
)");
  EXPECT_EQ(fault.code, 2);
  EXPECT_EQ(fault.err,
            "gable-player: line 8: cuCtxSynchronize answered CUDA_ERROR_INVALID_VALUE.\n");
  EXPECT_EQ(fault.out, "");
  EXPECT_EQ(play_untraced(R"({"op":"graph_launch","graph":4}
)")
                .err,
            "gable-player: line 6: cuGraphLaunch answered CUDA_ERROR_INVALID_HANDLE.\n");
}

TEST(PlayerErrors, TellOfAContextThatIsNotThere) {
  const Played none = play_untraced(R"({"op":"launch","kernel":"small","context":7}
)");
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "gable-player: line 6: context 7 does not exist.\n");
}

TEST(PlayerErrors, TellThatTheDriverDidNotStart) {
  const Played played = play_untraced(R"({"fault":"call","call":"cuInit","code":100}
{"op":"profiler_start"}
)");
  EXPECT_EQ(played.code, 2);
  EXPECT_EQ(played.err, "gable-player: cuInit answered 100.\n");
}

// The first of these is the first that needs CUDA.
TEST(PlayerErrors, NothingIsAskedBeforeTheDriverStarts) {
  for (const char* op : {R"({"op":"profiler_start"})", R"({"op":"profiler_stop"})",
                         R"({"op":"context","context":1})", R"({"op":"sync"})"}) {
    const Played played = play_untraced(std::string(op) + "\n");
    EXPECT_EQ(played.code, 0) << played.err;
  }
}

}  // namespace
}  // namespace gable::tests
