// SPDX-License-Identifier: Apache-2.0
// Every kind of line of a recording as gable dump shows it.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/tools/run_gable.h"

namespace gable::tests {
namespace {

constexpr const char* kRecording =
    R"~({"gable_recording": 1, "origin": "hand-written", "note": "say \"hi\" \\ and\ttab"}
{"switch": "clock_hz", "value": "1"}
{"fault": "call", "call": "cuptiX", "code": 7, "after": 2}
{"kernel": "a", "name": "k", "grid": [4, 3, 2], "block": [5, 6, 7], "cluster": [2, 1, 1], "dynamic_shared": 9, "time_ns": 40, "counters": {"dram__sectors_read.sum": 1.5, "x__y.sum": null}}
{"sequence": "s"}
{"op": "push", "name": "p", "direction": "backward", "domain": "d"}
{"op": "pop", "domain": "d"}
{"op": "pop"}
{"op": "start", "id": 3, "name": "r\nq", "direction": "forward"}
{"op": "end", "id": 3, "domain": "e"}
{"op": "launch", "kernel": "a", "api": "cuLaunchKernelEx", "scale": 2.5, "time_ns": 50, "stream": 4, "context": 0, "thread": 2}
{"op": "launch", "kernel": "a", "counters": {"dram__sectors_read.sum": 2}}
{"op": "copy", "kind": "h2d", "bytes": 64, "time_ns": 3}
{"op": "event_record", "event": 5, "stream": 1}
{"op": "stream_wait", "event": 5, "stream": 2}
{"op": "sync", "stream": 2}
{"op": "sync", "event": 5}
{"op": "sync"}
{"op": "idle", "ns": 11}
{"op": "sleep", "ms": 12}
{"op": "context", "context": 1, "device": 0}
{"op": "destroy_context", "context": 1}
{"op": "capture_begin", "stream": 1}
{"op": "launch", "kernel": "a", "stream": 1}
{"op": "capture_end", "stream": 1, "graph": 8}
{"op": "graph_launch", "graph": 8}
{"op": "graph_destroy", "graph": 8}
{"op": "print", "text": "x"}
{"op": "gable_step"}
{"end_sequence": "s"}
{"op": "play", "sequence": "s", "times": 2}
{"fault": "call", "call": "cuptiX", "code": 7, "after": 2, "times": 3}
{"fault": "hang", "call": "cuptiY", "after": 1}
{"fault": "call", "call": "cuptiX", "code": 7, "times": 0, "holder": "dcgm"}
{"fault": "lose_records", "count": 4}
{"fault": "no_permission"}
{"switch": "clock_hz", "value": "2"}
{"op": "launch", "kernel": "a", "api": "cuLaunchCooperativeKernel_ptsz"}
{"op": "exit", "how": "exit", "code": 3}
)~";

constexpr const char* kShown = R"~(recording    hand-written "say \"hi\" \\ and\x09tab"
switch       clock_hz = 1
fault        call cuptiX answers 7 after 2 good calls
device       0 "NVIDIA H200" GH100, compute capability 9.0, 132 SMs
kernel       a "k" grid 4,3,2 block 5,6,7 cluster 2,1,1 shared 9 B, 40 ns dram__sectors_read.sum=1.5 x__y.sum=nan
sequence     "s"
      6  thread 0   push            "p" backward in domain "d"
      7  thread 0   pop             in domain "d"
      8  thread 0   pop             
      9  thread 0   start           3 "r\x0aq" forward
     10  thread 0   end             3 in domain "e"
     11  thread 2   launch          a cuLaunchKernelEx stream 4 context 0, 50 ns scale 2.5
     12  thread 0   launch          a cuLaunchKernel stream 0 context 0 dram__sectors_read.sum=2
     13  thread 0   copy            h2d 64 B stream 0 context 0, 3 ns
     14  thread 0   event_record    event 5 stream 1 context 0
     15  thread 0   stream_wait     event 5 stream 2 context 0
     16  thread 0   sync            stream 2 context 0
     17  thread 0   sync            event 5
     18  thread 0   sync            context 0
     19  thread 0   idle            11 ns
     20  thread 0   sleep           12 ms
     21  thread 0   context         1 on device 0
     22  thread 0   destroy_context 1
     23  thread 0   capture_begin   stream 1 context 0
     24  thread 0   launch          a cuLaunchKernel stream 1 context 0
     25  thread 0   capture_end     stream 1 context 0 graph 8
     26  thread 0   graph_launch    stream 0 context 0
     27  thread 0   graph_destroy   8
     28  thread 0   print           "x"
     29  thread 0   gable_step      
program
     31  thread 0   play            2 times "s"
     32  thread 0   fault           call cuptiX answers 7 after 2 good calls, 3 times
     33  thread 0   fault           hang in cuptiY after 1 good calls
     34  thread 0   fault           call cuptiX answers 7 after 0 good calls, 0 times, held by "dcgm"
     35  thread 0   fault           lose_records 4
     36  thread 0   fault           no_permission
     37  thread 0   switch          clock_hz = 2
     38  thread 0   launch          a cuLaunchCooperativeKernel_ptsz stream 0 context 0
     39  thread 0   exit            exit 3
)~";

TEST(Dump, ShowsEveryLineOnOne) {
  const std::string path = temporary_folder() + "/r.jsonl";
  std::ofstream(path) << kRecording;
  const Ran ran = run_gable("dump " + path);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, kShown);
}

}  // namespace
}  // namespace gable::tests
