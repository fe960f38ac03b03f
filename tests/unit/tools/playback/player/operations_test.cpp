// SPDX-License-Identifier: Apache-2.0
// What the player asks of CUDA and NVTX for every operation of a recording; player_trace.cpp says
// how it is written down.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/tools/playback/player/played.h"

namespace gable::tests {
namespace {

// A pop without a domain closes the innermost range of its thread.
TEST(PlayerRanges, ArePushedAndPoppedInTheirDomains) {
  const Played played = play(R"({"op":"push","name":"a"}
{"op":"push","name":"b","domain":"X"}
{"op":"push","name":"c","direction":"backward"}
{"op":"push","name":"d","direction":"forward","domain":"Y"}
{"op":"pop","domain":"X"}
{"op":"pop"}
{"op":"pop"}
{"op":"pop"}
{"op":"pop"}
{"op":"pop","domain":"X"}
{"op":"start","name":"e","id":4}
{"op":"start","name":"f","id":5,"domain":"X"}
{"op":"start","name":"g","id":6,"direction":"recompute"}
{"op":"end","id":5}
{"op":"end","id":5}
{"op":"end","id":4}
{"op":"end","id":6}
{"op":"push","name":"h"}
{"op":"push","name":"i","domain":"X"}
{"op":"push","name":"j","thread":1}
{"op":"pop"}
{"op":"pop","thread":1}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, R"(t0 c0 push a in default, category 0
t0 c0 domain X
t0 c0 push b in X, category 0
t0 c0 domain gable
t0 c0 push c in gable, category 2
t0 c0 domain Y
t0 c0 push d in Y, category 1
t0 c0 pop in X
t0 c0 pop in Y
t0 c0 pop in gable
t0 c0 pop in default
t0 c0 pop in default
t0 c0 pop in X
t0 c0 start 1: e in default, category 0
t0 c0 start 2: f in X, category 0
t0 c0 start 3: g in gable, category 3
t0 c0 end 2 in X
t0 c0 end 1 in default
t0 c0 end 3 in gable
t0 c0 push h in default, category 0
t0 c0 push i in X, category 0
t1 c0 push j in default, category 0
t0 c0 pop in X
t1 c0 pop in default
ends at 0
)");
}

TEST(PlayerRanges, APopOfADomainClosesOneOfIt) {
  const Played played = play(R"({"op":"push","name":"a","domain":"X"}
{"op":"push","name":"b","domain":"X"}
{"op":"push","name":"c"}
{"op":"pop","domain":"X"}
{"op":"pop"}
{"op":"pop"}
)");
  EXPECT_EQ(only(played.out, "pop"), "t0 c0 pop in X\nt0 c0 pop in default\nt0 c0 pop in X\n");
}

// Every call, and what the line says of the launch.
TEST(PlayerLaunches, AreThoseOfTheRecording) {
  const Played played = play(R"({"op":"launch","kernel":"small"}
{"op":"launch","kernel":"small","stream":3,"time_ns":700,"host_ns":50}
{"op":"launch","kernel":"wide","stream":3,"scale":2.5,"counters":{"dram__sectors_read.sum":5}}
{"op":"launch","kernel":"small","api":"cuLaunchKernelEx"}
{"op":"launch","kernel":"small","api":"cuLaunchCooperativeKernel"}
{"op":"launch","kernel":"small","api":"cuLaunchKernel_ptsz"}
{"op":"launch","kernel":"small","api":"cuLaunchKernelEx_ptsz"}
{"op":"launch","kernel":"small","api":"cuLaunchCooperativeKernel_ptsz"}
{"op":"launch","kernel":"wide","api":"cuLaunchCooperativeKernel"}
{"op":"idle","ns":100000}
{"op":"launch","kernel":"small","thread":2}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, kFirstContext + R"(t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 2000 for 1000 on 7
t0 c1 cuStreamCreate
t0 c1 + stream 13
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 2050 for 700 on 13
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernelEx
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 2.5 counters 1 at 4050 for 5000 on 13
t0 c1 cuLaunchKernelEx
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 6050 for 1000 on 7
t0 c1 cuLaunchCooperativeKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 cooperative scale 1 counters 0 at 8050 for 1000 on 7
t0 c1 cuLaunchKernel_ptsz
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 10050 for 1000 on 14
t0 c1 cuLaunchKernelEx_ptsz
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 12050 for 1000 on 14
t0 c1 cuLaunchCooperativeKernel_ptsz
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 cooperative scale 1 counters 0 at 14050 for 1000 on 14
t0 c1 cuLaunchKernelEx
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 16050 for 2000 on 7
t1 c0 cuCtxSetCurrent
t1 c1 cuLaunchKernel
t1 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 118050 for 1000 on 7
t0 c1 cuCtxSetCurrent
t0 c1 cuCtxSynchronize
ends at 119050
)");
}

TEST(PlayerOrder, CopiesWaitsAndBordersAreCalls) {
  const Played played =
      play(R"({"op":"copy","kind":"h2d","bytes":100,"time_ns":10,"host":"pageable","stream":2}
{"op":"copy","kind":"d2h","bytes":200,"host_ns":77}
{"op":"copy","kind":"d2d","bytes":300}
{"op":"copy","kind":"memset","bytes":400}
{"op":"sync"}
{"op":"sync","stream":2}
{"op":"sync","stream":0}
{"op":"event_record","event":1,"stream":2}
{"op":"stream_wait","event":1}
{"op":"stream_wait","event":2,"stream":2}
{"op":"sync","event":1}
{"op":"profiler_start"}
{"op":"profiler_stop"}
{"op":"gable_step"}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, kFirstContext + R"(t0 c1 cuStreamCreate
t0 c1 + stream 13
t0 c1 cuMemcpyHtoDAsync_v2
t0 c1 > copy 0 of 100 bytes, host 2, at 2000 for 10 on 13
t0 c1 cuMemcpyDtoHAsync_v2
t0 c1 > copy 1 of 200 bytes, host 1, at 2077 for 1000 on 7
t0 c1 cuMemcpyDtoDAsync_v2
t0 c1 > copy 2 of 300 bytes, host 1, at 4077 for 1000 on 7
t0 c1 cuMemsetD8Async
t0 c1 > memset 4 of 400 bytes, host 1, at 6077 for 1000 on 7
t0 c1 cuCtxSynchronize
t0 c1 cuStreamSynchronize
t0 c1 cuStreamSynchronize
t0 c1 cuEventCreate
t0 c1 cuEventRecord
t0 c1 cuStreamWaitEvent
t0 c1 cuEventCreate
t0 c1 cuStreamWaitEvent
t0 c1 cuEventSynchronize
t0 c1 cuProfilerStart
t0 c1 cuProfilerStop
t0 c1 step
t0 c1 cuCtxSetCurrent
t0 c1 cuCtxSynchronize
ends at 11577
)");
}

// Graphs by number, and of kernels that a line names.
// Also within each other; none of nothing.
TEST(PlayerSequences, ArePlayedAsOftenAsTheLineSays) {
  const Played played = play(R"({"sequence":"empty"}
{"end_sequence":"empty"}
{"sequence":"inner"}
{"op":"print","text":"i"}
{"end_sequence":"inner"}
{"sequence":"outer"}
{"op":"print","text":"o"}
{"op":"play","sequence":"inner","times":2}
{"op":"play","sequence":"empty","times":2}
{"end_sequence":"outer"}
{"op":"play","sequence":"empty"}
{"op":"play","sequence":"inner","times":0}
{"op":"print","text":"a"}
{"op":"play","sequence":"outer","times":3}
{"op":"play","sequence":"inner"}
{"op":"print","text":"z\n"}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, R"(aoiioiioiiiz
)");
}

TEST(PlayerThreads, KeepTheOrderOfTheRecording) {
  const Played played = play(R"({"op":"push","name":"a","thread":1}
{"op":"push","name":"b","thread":2}
{"op":"print","text":"between\n","thread":1}
{"op":"push","name":"c"}
{"op":"push","name":"d","thread":2}
{"op":"pop","thread":1}
{"op":"pop","thread":2}
{"op":"print","text":"last\n","thread":2}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, R"(t0 c0 push a in default, category 0
t1 c0 push b in default, category 0
between
t2 c0 push c in default, category 0
t1 c0 push d in default, category 0
t0 c0 pop in default
t1 c0 pop in default
last
ends at 0
)");
}

// Also faults: the second launch answers an error that is no success.

}  // namespace
}  // namespace gable::tests
