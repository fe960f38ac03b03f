// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: their nodes as they are made, and their launches. While a stream captures nothing
// but this happens: ids are asked for and noted. Runs within the program's own driver calls.
#pragma once

#include <cstdint>

#include "collector/session/collection.h"
#include "collector/session/launch_path.h"

namespace gable {

class GraphPath {
 public:
  GraphPath(Collection& collection, LaunchPath& launches, StepCalls& calls)
      : c_(collection), launches_(launches), calls_(calls) {}

  // A graph, one of its nodes, or an executable graph came or went.
  void changed(CUpti_CallbackIdResource id, const CUpti_GraphData& data);
  // A call gives nodes of an executable graph other parameters; `part`: it turns them on or off.
  void exec_changed(const CUpti_CallbackData& data, bool part);
  // The launch of an executable graph begins; LaunchPath::exit() is its end.
  void enter(const CUpti_CallbackData& data);

 private:
  void node_created(std::uint32_t graph, const CUpti_GraphData& data);
  void node_cloned(std::uint32_t graph, const CUpti_GraphData& data);
  // What the launch of an executable graph is; made at its first launch.
  [[nodiscard]] GraphNodes::Launched launched(const void* exec, std::int32_t device);

  Collection& c_;
  LaunchPath& launches_;
  StepCalls& calls_;
};

}  // namespace gable
