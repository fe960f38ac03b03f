// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

nlohmann::json document() {
  return nlohmann::json::parse(R"({
    "gable_plan": 1, "made_with": {"torch": "2.13.0", "python": "3.11.7"},
    "model": {"name": "Net", "from": "nets:net", "parameters": 10, "parameter_bytes": 40, "buffer_bytes": 4},
    "inputs": ["float32[B,8]"], "past_tokens": 0, "precision": null,
    "training": {"optimizer": "adamw", "trained_parameters": 9, "gradient_bytes": 36, "optimizer_bytes": 72},
    "layers": [{"path": ["Net", "fc"], "class": "Linear", "parameters": 10}],
    "runs": [
      {"batch": 4, "asked": false, "tokens_per_sample": null, "input_bytes": 128, "kept_bytes": null, "peak_bytes": 7,
       "kv_bytes": null, "operators": []},
      {"batch": 2, "tokens_per_sample": 8, "input_bytes": 64, "kept_bytes": 5, "peak_bytes": 6, "kv_bytes": 3, "operators": [
        {"layer": 0, "direction": "backward", "name": "mm", "type": "bf16", "count": 3, "flops": 1.5, "read_bytes": 2,
         "written_bytes": null, "fused_bytes": 4}]}],
    "notes": ["built on the CPU"]})");
}

std::string refusal(const nlohmann::json& json) {
  try {
    (void)plan_from_json(json.dump(), "x.json");
  } catch (const WrongUse& wrong) {
    return wrong.what();
  }
  return {};
}

TEST(PlanFile, HasEveryField) {
  const Plan plan = plan_from_json(document().dump(), "x.json");
  EXPECT_EQ(plan.name, "Net");
  EXPECT_EQ(plan.from, "nets:net");
  EXPECT_EQ(plan.torch, "2.13.0");
  EXPECT_EQ(plan.precision, "");
  EXPECT_EQ(plan.parameters, 10);
  EXPECT_EQ(plan.parameter_bytes, 40);
  EXPECT_EQ(plan.buffer_bytes, 4);
  EXPECT_EQ(plan.inputs, std::vector<std::string>{"float32[B,8]"});
  ASSERT_TRUE(plan.training);
  EXPECT_EQ(plan.training->optimizer, "adamw");
  EXPECT_EQ(plan.training->trained_parameters, 9);
  EXPECT_EQ(plan.training->gradient_bytes, 36);
  EXPECT_EQ(plan.training->optimizer_bytes, 72);
  EXPECT_EQ(plan.notes.size(), 1U);
  ASSERT_EQ(plan.layers.size(), 1U);
  EXPECT_EQ(plan.layers[0].kind, "Linear");
  ASSERT_EQ(plan.runs.size(), 2U);  // by batch
  const PlanRun& run = plan.runs[0];
  EXPECT_EQ(run.batch, 2U);
  EXPECT_TRUE(run.asked);
  EXPECT_FALSE(plan.runs[1].asked);
  EXPECT_EQ(run.tokens_per_sample, 8);
  EXPECT_EQ(run.kept_bytes, 5);
  EXPECT_EQ(run.kv_bytes, 3);
  EXPECT_FALSE(plan.runs[1].kv_bytes);
  ASSERT_EQ(run.operators.size(), 1U);
  const PlanOperator& first = run.operators[0];
  EXPECT_EQ(first.direction, Direction::backward);
  EXPECT_EQ(first.name + first.type, "mmbf16");
  EXPECT_EQ(first.count, 3);
  EXPECT_EQ(first.flops, 1.5);
  EXPECT_EQ(first.read_bytes, 2);
  EXPECT_FALSE(first.written_bytes);
  EXPECT_EQ(first.fused_bytes, 4);
}

TEST(PlanFile, OfANewerVersionIsRefused) {
  nlohmann::json json = document();
  json["gable_plan"] = 2;
  EXPECT_EQ(
      refusal(json).substr(0, 86),
      "x.json is no plan: It is of version 2, and this gable reads versions up to 1. Files fo");
}

TEST(PlanFile, WhatIsWrongIsNamed) {
  const auto changed = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = document();
    json[nlohmann::json::json_pointer(pointer)] = value;
    return refusal(json);
  };
  for (const auto& [pointer, value, says] :
       std::initializer_list<std::tuple<const char*, nlohmann::json, const char*>>{
           {"/runs/1/operators/0/layer", 1, "\"runs[1].operators[0].layer\""},
           {"/runs/1/operators/0/layer", -1, "\"runs[1].operators[0].layer\""},
           {"/runs/1/operators/0/count", 0.5, "\"runs[1].operators[0].count\""},
           {"/runs/1/operators/0/flops", "many", "\"runs[1].operators[0].flops\""},
           {"/runs/1/operators/0/flops", -1, "\"runs[1].operators[0].flops\""},
           {"/runs/1/operators/0/flops", 1e300, "\"runs[1].operators[0].flops\""},
           {"/runs/1/operators/0/direction", "up", "'forward', 'backward'"},
           {"/runs/0/batch", 2, "batch 2 twice"},
           {"/runs/0/batch", 0, "\"runs[0].batch\""},
           {"/runs", nlohmann::json::array(), "\"runs\" is empty"},
           {"/runs", 3, "\"runs\" must be a list"},
           {"/layers", nlohmann::json::array(), "\"layers\" is empty"},
           {"/model", 3, "\"model\" must be an object"},
           {"/model/name", 3, "\"model.name\" must be a text"},
           {"/inputs", {3}, "\"inputs\" must be a list of texts"},
           {"/training/optimizer_bytes", nullptr, "\"training.optimizer_bytes\""}})
    EXPECT_NE(changed(pointer, value).find(says), std::string::npos)
        << pointer << ": " << changed(pointer, value);
  EXPECT_NE(refusal({{"gable_plan", 1}}).find("is missing"), std::string::npos);
  EXPECT_NE(refusal("text").find("It must be an object"), std::string::npos);
}

TEST(PlanFile, IsToldFromOtherJson) {
  EXPECT_TRUE(is_plan("{\"gable_plan\": \"wrong\"}"));
  EXPECT_FALSE(is_plan("{\"model_type\": \"llama\"}"));
  EXPECT_FALSE(is_plan("[1]"));
  EXPECT_FALSE(is_plan("no JSON"));
}

}  // namespace
}  // namespace gable
