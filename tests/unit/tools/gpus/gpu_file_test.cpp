// SPDX-License-Identifier: Apache-2.0
// GPUs that files describe: every field is read, and what is wrong is one sentence.
#include "tools/gpus/gpu_file.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

const std::string kGood = R"({"name": "Mine", "sm_count": 100, "sm_clock_hz": 1.5e9,
  "memory_bytes": 48e9, "bytes_per_s": {"dram": 9e11},
  "flops_per_s": {"fp32": 38.4e12, "bf16_tensor": 150e12}})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GpuFile, EveryField) {
  const auto [gpu, error] = gpu_from_json(kGood);
  ASSERT_TRUE(gpu) << error;
  EXPECT_EQ(gpu->name, "Mine");
  EXPECT_EQ(gpu->source, "described by a file");
  EXPECT_EQ(gpu->sm_count, 100);
  EXPECT_DOUBLE_EQ(gpu->sm_clock_mhz, 1500);
  EXPECT_DOUBLE_EQ(gpu->memory_gb, 48);
  EXPECT_DOUBLE_EQ(gpu->dram, 900);
  EXPECT_DOUBLE_EQ(gpu->fp32, 38.4);
  EXPECT_DOUBLE_EQ(gpu->tensor.bf16, 150);
  EXPECT_DOUBLE_EQ(gpu->fp64, 0);
  EXPECT_EQ(
      gpu_from_json(with("\"sm_count\"", "\"source\": \"a sheet\", \"sm_count\"")).gpu->source,
      "a sheet");
}

TEST(GpuFile, OneSentenceForWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"{", "It is not JSON."},
      {"[]", "It must be a JSON object."},
      {with("\"Mine\"", "\"\""), "\"name\" must be a text that is not empty."},
      {with("\"name\": \"Mine\", ", ""), "\"name\" is missing."},
      {with("100,", "100.5,"), "\"sm_count\" must be a whole number."},
      {with("100,", "0,"), "\"sm_count\" must be a number from 1 to 100000."},
      {with("1.5e9", "\"1.5 GHz\""), "\"sm_clock_hz\" must be a number from 1e+06 to 1e+11."},
      {with("1.5e9", "1.5"), "\"sm_clock_hz\" must be a number from 1e+06 to 1e+11."},
      {with("{\"dram\": 9e11}", "9e11"), "\"bytes_per_s\" must be an object of numbers."},
      {with("\"dram\"", "\"hbm\""), "\"bytes_per_s.dram\" is missing."},
      {with("\"fp32\"", "\"fp64\""), "\"flops_per_s.fp32\" is missing."},
      {with("bf16_tensor", "bf16"),
       "There is no \"flops_per_s.bf16\": fp64, fp32, fp16, fp64_tensor, tf32_tensor, bf16_tensor, "
       "fp16_tensor, fp8_tensor, int8_tensor, fp4_tensor."},
      {with("\"sm_count\"", "\"sms\": 1, \"sm_count\""),
       "There is no \"sms\": name, source, sm_count, sm_clock_hz, memory_bytes, bytes_per_s, "
       "flops_per_s."},
  };
  for (const auto& [text, sentence] : cases) {
    const auto [gpu, error] = gpu_from_json(text);
    EXPECT_FALSE(gpu) << text;
    EXPECT_EQ(error, sentence);
  }
}

TEST(GpuFile, NamesOfFiles) {
  EXPECT_TRUE(names_gpu_file("mine.json"));
  EXPECT_TRUE(names_gpu_file("./mine"));
  EXPECT_FALSE(names_gpu_file("A100-80GB"));
  EXPECT_NE(read_gpu_file("/nowhere/x.json").error, "");
}

}  // namespace
}  // namespace gable
