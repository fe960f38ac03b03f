// SPDX-License-Identifier: Apache-2.0
// What the player asks of CUDA for graphs, contexts and modules; player_trace.cpp says how it is
// written down.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/tools/playback/player/played.h"

namespace gable::tests {
namespace {

TEST(PlayerGraphs, AreCapturedChangedAndDestroyed) {
  const Played played = play(R"({"op":"capture_begin","stream":1}
{"op":"launch","kernel":"small","stream":1}
{"op":"copy","kind":"d2d","bytes":300,"stream":1}
{"op":"capture_end","stream":1,"graph":5}
{"op":"graph_launch","graph":5,"host_ns":60}
{"op":"capture_begin","stream":1}
{"op":"launch","kernel":"wide","stream":1}
{"op":"copy","kind":"d2d","bytes":300,"stream":1}
{"op":"capture_end","stream":1,"update":5}
{"op":"graph_launch","graph":5,"stream":1}
{"op":"capture_begin","stream":1}
{"op":"launch","kernel":"small","stream":1}
{"op":"capture_end","stream":1,"graph":5}
{"op":"capture_begin","stream":1}
{"op":"launch","kernel":"wide","stream":1}
{"op":"capture_end","stream":1}
{"op":"graph_launch","graph":5}
{"op":"graph_destroy","graph":5}
{"op":"graph_destroy","graph":5}
{"op":"graph_destroy","graph":6}
{"sequence":"s"}
{"op":"graph_launch","kernels":["small","wide"]}
{"end_sequence":"s"}
{"op":"play","sequence":"s","times":2}
{"op":"graph_launch","kernels":["small","wide"],"time_ns":9,"host_ns":30,"stream":1}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, kFirstContext + R"(t0 c1 cuStreamCreate
t0 c1 + stream 13
t0 c1 cuStreamBeginCapture_v2
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernel
t0 c1 > captured small
t0 c1 cuMemcpyDtoDAsync_v2
t0 c1 cuStreamEndCapture
t0 c1 cuGraphInstantiateWithFlags
t0 c1 + exec 2 of 2
t0 c1 cuGraphDestroy
t0 c1 - graph 1
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 4060 for 1000 on 7 of exec 2
t0 c1 > copy 2 of 300 bytes, host 1, at 5060 for 1000 on 7 of exec 2
t0 c1 cuStreamBeginCapture_v2
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernelEx
t0 c1 > captured wide
t0 c1 cuMemcpyDtoDAsync_v2
t0 c1 cuStreamEndCapture
t0 c1 cuGraphExecUpdate_v2
t0 c1 cuGraphDestroy
t0 c1 - graph 3
t0 c1 cuGraphLaunch
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 10060 for 2000 on 13 of exec 2
t0 c1 > copy 2 of 300 bytes, host 1, at 12060 for 1000 on 13 of exec 2
t0 c1 cuStreamBeginCapture_v2
t0 c1 cuLaunchKernel
t0 c1 > captured small
t0 c1 cuStreamEndCapture
t0 c1 cuGraphExecDestroy
t0 c1 - exec 2
t0 c1 cuGraphInstantiateWithFlags
t0 c1 + exec 5 of 1
t0 c1 cuGraphDestroy
t0 c1 - graph 4
t0 c1 cuStreamBeginCapture_v2
t0 c1 cuLaunchKernelEx
t0 c1 > captured wide
t0 c1 cuStreamEndCapture
t0 c1 cuGraphDestroy
t0 c1 - graph 6
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 16060 for 1000 on 7 of exec 5
t0 c1 cuGraphExecDestroy
t0 c1 - exec 5
t0 c1 + exec 8 of 2
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 18060 for 1000 on 7 of exec 8
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 19060 for 2000 on 7 of exec 8
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 21060 for 1000 on 7 of exec 8
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 22060 for 2000 on 7 of exec 8
t0 c1 + exec 10 of 2
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 20090 for 9 on 13 of exec 10
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 20099 for 9 on 13 of exec 10
t0 c1 cuCtxSetCurrent
t0 c1 cuCtxSynchronize
ends at 24060
)");
}

TEST(PlayerContexts, AreMadeWhenNeededAndGone) {
  const Played played = play(R"({"op":"launch","kernel":"small"}
{"op":"context","context":3,"device":1}
{"op":"launch","kernel":"small","context":3,"stream":1}
{"op":"launch","kernel":"wide","context":3,"thread":1}
{"op":"launch","kernel":"small"}
{"op":"load_module"}
{"op":"launch","kernel":"small"}
{"op":"launch","kernel":"wide"}
{"op":"load_module","unload":1}
{"op":"launch","kernel":"small"}
{"op":"destroy_context","context":3}
{"op":"destroy_context","context":3}
{"op":"destroy_context","context":9}
{"op":"destroy_context"}
{"op":"launch","kernel":"small"}
)");
  EXPECT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(played.out, kFirstContext + R"(t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 2000 for 1000 on 7
t0 c1 cuCtxCreate_v4
t0 c2 + context 2 on device 1
t0 c2 cuCtxSetCurrent
t0 c2 cuModuleLoadData
t0 c2 + module 2
t0 c2 cuModuleGetFunction
t0 c2 cuStreamCreate
t0 c2 + stream 13
t0 c2 cuLaunchKernel
t0 c2 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 4000 for 1000 on 13
t1 c0 cuCtxSetCurrent
t1 c2 cuModuleGetFunction
t1 c2 cuLaunchKernelEx
t1 c2 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 6000 for 2000 on 7
t0 c2 cuCtxSetCurrent
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 8000 for 1000 on 7
t0 c1 cuModuleLoadData
t0 c1 + module 3
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 10000 for 1000 on 7
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernelEx
t0 c1 > wide 8,4,2 32,1,1 4,2,1 shared 0 scale 1 counters 0 at 12000 for 2000 on 7
t0 c1 cuModuleUnload
t0 c1 - module 3
t0 c1 cuModuleLoadData
t0 c1 + module 4
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernel
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 14000 for 1000 on 7
t0 c1 cuCtxDestroy_v2
t0 c1 - context 2
t0 c1 cuDevicePrimaryCtxRelease_v2
t0 c1 - context 1
t0 c0 cuDevicePrimaryCtxRetain
t0 c0 + context 3 on device 0
t0 c0 cuCtxSetCurrent
t0 c3 cuModuleLoadData
t0 c3 + module 5
t0 c3 cuModuleGetFunction
t0 c3 cuLaunchKernel
t0 c3 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 17000 for 1000 on 7
t0 c3 cuCtxSetCurrent
t0 c3 cuCtxSynchronize
ends at 18000
)");
}

TEST(PlayerSwitches, HoldFromWhereTheyStand) {
  const Played played = play(R"({"op":"capture_begin","stream":1}
{"op":"launch","kernel":"small","stream":1}
{"op":"capture_end","stream":1,"graph":5}
{"op":"graph_launch","graph":5}
{"switch":"graph_records","value":"captured"}
{"op":"graph_launch","graph":5}
{"fault":"call","call":"cuGraphLaunch","code":201,"times":1}
{"op":"graph_launch","graph":5}
{"op":"print","text":"never"}
)");
  EXPECT_EQ(played.code, 2) << played.err;
  EXPECT_EQ(played.out, kFirstContext + R"(t0 c1 cuStreamCreate
t0 c1 + stream 13
t0 c1 cuStreamBeginCapture_v2
t0 c1 cuModuleGetFunction
t0 c1 cuLaunchKernel
t0 c1 > captured small
t0 c1 cuStreamEndCapture
t0 c1 cuGraphInstantiateWithFlags
t0 c1 + exec 2 of 1
t0 c1 cuGraphDestroy
t0 c1 - graph 1
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 4000 for 1000 on 7 of exec 2
t0 c1 cuGraphLaunch
t0 c1 > small 2,3,4 5,6,7 1,1,1 shared 8 scale 1 counters 0 at 6000 for 1000 on 7 of exec 1
)");
}

}  // namespace
}  // namespace gable::tests
