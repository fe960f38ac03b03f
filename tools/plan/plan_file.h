// SPDX-License-Identifier: Apache-2.0
// The document that the Python side writes for `gable plan`: what a model has to do, operator by
// operator, before anything runs. docs/plan.md has its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/maybe.h"
#include "analysis/events/events.h"

namespace gable {

inline constexpr int kPlanSchema = 1;

// Operators of one layer that are equal.
struct PlanOperator {
  std::size_t layer = 0;  // in Plan::layers
  Direction direction = Direction::none;
  std::string name, type;  // "addmm", "bf16"
  double count = 1;
  // Of one of them. `fused` bytes: what it moves if all operators without FLOPs are fused into
  // those that have some.
  Maybe flops, read_bytes, written_bytes, fused_bytes;
};

struct PlanLayer {
  std::vector<std::string> path;
  std::string kind;       // the module's class; empty: no module
  double parameters = 0;  // its own, without those of the modules within it
};

// The model at one batch.
struct PlanRun {
  std::uint64_t batch = 1;
  bool asked = true;  // false: made only to see how work grows with the batch
  Maybe tokens_per_sample;
  double input_bytes = 0;
  Maybe kept_bytes;       // what forward leaves for backward
  double peak_bytes = 0;  // the most that exists at once beside model and inputs; with gradients
  Maybe kv_bytes;         // keys and values of all tokens
  std::vector<PlanOperator> operators;
};

struct PlanTraining {
  std::string optimizer;
  double trained_parameters = 0, gradient_bytes = 0, optimizer_bytes = 0;
};

struct Plan {
  std::string name, from;  // "ResNet", "mymodel:build"
  std::string precision;   // empty: as the function builds it
  std::string torch;       // its version
  double parameters = 0, parameter_bytes = 0, buffer_bytes = 0;
  std::vector<std::string> inputs;
  double past_tokens = 0;
  std::optional<PlanTraining> training;
  std::vector<PlanLayer> layers;
  std::vector<PlanRun> runs;  // by batch
  std::vector<std::string> notes;
};

// Throws WrongUse with one sentence, in which the document is called `what`.
[[nodiscard]] Plan plan_from_json(std::string_view text, const std::string& what);
// Whether a text is such a document, right or wrong.
[[nodiscard]] bool is_plan(std::string_view text);

}  // namespace gable
