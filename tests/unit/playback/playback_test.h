// SPDX-License-Identifier: Apache-2.0
// Tests of the playback libraries: they call them as a program and a profiler would, and read which
// rules were broken.
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#define PLAYBACK_PARAMS(type, name) \
  type##_Params name{};             \
  name.structSize = type##_Params_STRUCT_SIZE

namespace gable::playback {

// A context, a kernel, and what a test leaves behind is cleaned up.
class PlaybackTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The sentences since the last call; a test that does not ask for them must break no rule.
  std::string broken();
  void expect_broken(const std::string& sentence);

  void fault(const std::string& line);  // as a recording has it, or several
  void flip(const char* name, const char* value);

  CUresult launch(CUstream stream = nullptr);
  void subscribe(std::function<void(CUpti_CallbackDomain, CUpti_CallbackId, const void*)> listener);
  void listen(CUpti_CallbackDomain domain, CUpti_CallbackId id);
  void elsewhere(const std::function<void()>& body);  // on another thread, with the context current

  CUcontext context_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;

 private:
  std::size_t read_ = 0;  // of the file of broken rules
  std::vector<std::pair<std::string, std::string>> flipped_;
  std::function<void(CUpti_CallbackDomain, CUpti_CallbackId, const void*)> listener_;
};

// A profiler with one range profiler object; every call gives CUPTI's answer.
class Ranges {
 public:
  explicit Ranges(CUcontext context) : context_(context) {}
  ~Ranges();
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  static std::vector<std::uint8_t> config_for(const std::vector<const char*>& metrics,
                                              const char* chip = "GH100");
  static CUptiResult initialize();
  CUptiResult enable();
  CUptiResult disable();
  // Configuration and counter image for these metrics.
  CUptiResult make_images(const std::vector<const char*>& metrics, std::size_t ranges = 16);
  CUptiResult set_config(CUpti_ProfilerRange mode = CUPTI_UserRange);
  CUptiResult start();
  CUptiResult push(const char* name);
  CUptiResult pop();
  CUptiResult stop();
  CUptiResult decode(std::size_t* dropped = nullptr);
  // All of it up to start.
  void begin(const std::vector<const char*>& metrics, CUpti_ProfilerRange mode = CUPTI_UserRange);
  std::size_t count() const;
  std::string name(std::size_t index) const;
  double value(std::size_t index, const char* metric) const;

  CUpti_RangeProfiler_Object* object = nullptr;
  CUpti_RangeProfiler_SetConfig_Params wish{};  // what a test changes of SetConfig
  std::vector<std::uint8_t> config, image;

 private:
  CUcontext context_;
};

inline const std::vector<const char*> kHardware = {
    "dram__sectors_read.sum", "sm__ctas_launched.sum", "gpu__time_duration.sum"};
inline const std::vector<const char*> kSass = {
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};

}  // namespace gable::playback
