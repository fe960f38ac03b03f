// SPDX-License-Identifier: Apache-2.0
#include "playback_test.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

const std::string& list_of_broken() {
  static const std::string path = [] {
    std::string name = testing::TempDir() + "gable-broken-XXXXXX";
    close(mkstemp(name.data()));
    return name;
  }();
  return path;
}

void CUPTIAPI heard(void* listener, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const void* data) {
  (*static_cast<std::function<void(CUpti_CallbackDomain, CUpti_CallbackId, const void*)>*>(
      listener))(domain, id, data);
}

const char* default_of(const std::string& name) {
  if (name == "range_order") return "launch";
  if (name == "same_name_ranges") return "merged";
  if (name == "user_ranges") return "own_launch";
  if (name == "ranged_threads") return "all";
  if (name == "graphs_in_auto_ranges") return "fail_stop";
  if (name == "graphs_in_replay") return "none";
  if (name == "range_overflow") return "silent";
  if (name == "copies_in_auto_ranges") return "none";
  if (name == "capture_in_window") return "harmless";
  if (name == "late_modules") return "patched";
  if (name == "start_in_callback") return "allowed";
  if (name == "second_config") return "ignored";
  if (name == "target_level" || name == "stop_thread" || name == "current_context") return "any";
  if (name == "profiler_objects") return "one_started";
  if (name == "permission_asked_at") return "enable";
  if (name == "sass_permission") return "needed";
  if (name == "engine_start") return "resets_activity";
  if (name == "engine_end") return "keeps_activity";
  if (name == "activity_with_counters") return "hang_reported";
  if (name == "kernel_records") return "arrive";
  if (name == "cupti") return "13.0";
  if (name == "older_driver") return "refused";
  if (name == "range_limit" || name == "start_modules") return "none";
  if (name == "user_range_time") return "longer";
  if (name == "auto_ranges") return "counted";
  if (name == "counter_kinds") return "both";
  return "same";  // correlation
}

}  // namespace

void PlaybackTest::SetUp() {
  setenv("GABLE_PLAYBACK", GABLE_TEST_RECORDING, 1);
  setenv("GABLE_PLAYBACK_VIOLATIONS", list_of_broken().c_str(), 1);
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
#if CUDA_VERSION >= 13000
  ASSERT_EQ(cuCtxCreate(&context_, nullptr, 0, 0), CUDA_SUCCESS);
#else
  ASSERT_EQ(cuCtxCreate(&context_, 0, 0), CUDA_SUCCESS);
#endif
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ""), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&kernel_, module, "work"), CUDA_SUCCESS);
  static_cast<void>(broken());
}

void PlaybackTest::TearDown() {
  EXPECT_EQ(broken(), "");
  for (const auto& [name, value] : flipped_)
    gable_playback_gpu()->control().set_switch(name, value);
  if (subscriber_ != nullptr) cuptiUnsubscribe(subscriber_);
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY})
    cuptiActivityDisable(kind);
  if (context_ != nullptr) cuCtxDestroy(context_);
  static_cast<void>(broken());
}

std::string PlaybackTest::broken() {
  std::ifstream file(list_of_broken(), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::string fresh = all.substr(std::min(read_, all.size()));
  read_ = all.size();
  return fresh;
}

void PlaybackTest::expect_broken(const std::string& sentence) {
  const std::string said = broken();
  EXPECT_NE(said.find(sentence), std::string::npos)
      << "expected: " << sentence << "\nsaid: " << said;
}

void PlaybackTest::fault(const std::string& line) {
  std::vector<RecordedFault> faults;
  std::map<std::string, std::string> switches;
  ASSERT_EQ(parse_faults(line, "test", faults, switches), "");
  for (const auto& one : faults) gable_playback_gpu()->control().add(one);
}

void PlaybackTest::flip(const char* name, const char* value) {
  flipped_.emplace_back(name, default_of(name));
  gable_playback_gpu()->control().set_switch(name, value);
}

CUresult PlaybackTest::launch(CUstream stream) {
  return cuLaunchKernel(kernel_, 8, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr);
}

void PlaybackTest::subscribe(
    std::function<void(CUpti_CallbackDomain, CUpti_CallbackId, const void*)> listener) {
  listener_ = std::move(listener);
  ASSERT_EQ(cuptiSubscribe(&subscriber_, heard, &listener_), CUPTI_SUCCESS);
}

void PlaybackTest::listen(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  ASSERT_EQ(cuptiEnableCallback(1, subscriber_, domain, id), CUPTI_SUCCESS);
}

void PlaybackTest::elsewhere(const std::function<void()>& body) {
  std::thread([&] {
    cuCtxSetCurrent(context_);
    body();
  }).join();
}

}  // namespace gable::playback
