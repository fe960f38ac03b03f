// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: their nodes as they are made, and their launches. While a stream captures, only ids
// are queried and noted. Runs within the program's own driver calls.
#pragma once

#include <cstdint>

#include "collector/session/collection.h"
#include "collector/session/launch_path.h"

namespace gable {

class GraphPath {
 public:
  GraphPath(Collection& collection, LaunchPath& launches, StepCalls& calls)
      : c_(collection), launches_(launches), calls_(calls) {}

  // Called when a graph, one of its nodes or an executable graph was made or destroyed.
  void changed(CUpti_CallbackIdResource id, const CUpti_GraphData& data);
  // Called when nodes of an executable graph get other parameters; `part`: they are enabled or
  // disabled.
  void exec_changed(const CUpti_CallbackData& data, bool part);
  // Called when the launch of an executable graph begins; LaunchPath::exit() ends it.
  void enter(const CUpti_CallbackData& data);

 private:
  void node_created(std::uint32_t graph, const CUpti_GraphData& data);
  void node_cloned(std::uint32_t graph, const CUpti_GraphData& data);
  // What an executable graph launches; determined at its first launch.
  [[nodiscard]] GraphNodes::Launched launched(const void* exec, std::int32_t device);

  Collection& c_;
  LaunchPath& launches_;
  StepCalls& calls_;
};

}  // namespace gable
