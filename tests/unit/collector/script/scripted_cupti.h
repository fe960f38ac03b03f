// SPDX-License-Identifier: Apache-2.0
// A CuptiApi of test functions for the profiler's calls. It keeps CUPTI's rules (order of calls,
// images alive until disable, range names freed by the caller) and answers as the script says. One
// script at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"

namespace gable {

class ScriptedCupti {
 public:
  ScriptedCupti();
  ~ScriptedCupti();
  ScriptedCupti(const ScriptedCupti&) = delete;
  ScriptedCupti& operator=(const ScriptedCupti&) = delete;

  // --- the script ----------------------------------------------------------------------------
  // `call` answers `code` after `after` good calls, from then on.
  void fail(const std::string& call, CUptiResult code, int after = 0);
  void work_again(const std::string& call) { failing_.erase(call); }
  bool second_config_refused = false;  // SetConfig again on one object
  std::uint16_t accepted_target = 0;   // targetNestingLevel that SetConfig accepts
  std::uint8_t all_passes = 1;         // Stop's isAllPassSubmitted
  bool reversed = false;               // ranges come back last first
  std::size_t drop_ranges = 0;         // the next decode drops that many, and says so
  std::size_t lose_ranges = 0;         // the next decode loses that many, and does not say so
  // Value of a metric in a range, by the metric's name and the place of the launch.
  std::function<double(const std::string&, std::size_t)> value;

  // What a call that is not scripted here answers: for those that a test adds.
  [[nodiscard]] CUptiResult ask(const std::string& call);

  // The GPU executes a kernel: in automatic mode this makes a range.
  void kernel();

  // --- what was seen ---------------------------------------------------------------------------
  [[nodiscard]] const CuptiApi& api() const { return api_; }
  [[nodiscard]] std::vector<std::string> calls() const;
  [[nodiscard]] int count(const std::string& call) const;
  [[nodiscard]] std::vector<std::string> broken_rules() const;
  [[nodiscard]] int live_objects() const { return live_hosts_ + live_profilers_; }
  [[nodiscard]] std::vector<std::uint64_t> kernels_in_ranges() const;

 private:
  friend struct ScriptedCalls;
  CUptiResult enter(const char* call);
  void broken(const std::string& rule) { broken_.push_back(rule); }

  struct Failing {
    CUptiResult code;
    int after;
  };
  struct Range {
    std::string name;
    std::uint64_t kernels = 0;
  };
  mutable std::mutex mutex_;
  CuptiApi api_;
  std::map<std::string, Failing> failing_;
  std::vector<std::string> calls_, broken_;
  int live_hosts_ = 0, live_profilers_ = 0;
  std::list<char> profilers_;  // one for each object given out; abandoned ones are never given back
  bool engine_ = false, configured_ = false, started_ = false, range_open_ = false;
  bool automatic_ = false;
  std::size_t max_ranges_ = 0;
  std::vector<Range> ranges_;          // since Start
  std::vector<std::size_t> in_image_;  // what Decode left: places of ranges
  const std::uint8_t* config_ = nullptr;
  std::size_t config_size_ = 0;
  std::uint64_t config_sum_ = 0;
  std::uint8_t* image_ = nullptr;
  std::size_t image_size_ = 0;
  std::set<const void*> initialised_;  // images that are empty and ready
  std::vector<const char*> pushed_;    // names CUPTI may keep pointers to
  std::vector<std::string> pushed_text_;
};

}  // namespace gable
