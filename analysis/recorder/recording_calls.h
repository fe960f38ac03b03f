// SPDX-License-Identifier: Apache-2.0
// The lines of a recording made from a run. Internal to recording_text.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "analysis/recorder/run_recorder.h"

namespace gable {

// A number as JSON has it.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string quoted_text(const std::string& text);

class RecordingCalls {
 public:
  using Call = RunRecorder::Call;

  RecordingCalls(const RunRecorder& run, const Profile::State& profile);

  [[nodiscard]] std::string header(const std::string& origin, const std::string& note) const;
  [[nodiscard]] std::string devices() const;
  // Lines for the kernels that the calls launch, including those in graphs.
  [[nodiscard]] std::string kernels(std::span<const Call> calls) const;
  // Lines that come first: contexts of further devices and captures of the graphs.
  [[nodiscard]] std::string preparations(std::span<const Call> calls);
  // The operations of one step with each launch's measurements. Without `times` and `counters`:
  // what repeated steps have in common.
  [[nodiscard]] std::string step(std::span<const Call> calls, bool times, bool counters);

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  // Number of kinds and copies without a known time.
  [[nodiscard]] std::uint64_t untimed() const;
  [[nodiscard]] std::uint64_t unsaid_copies() const { return unsaid_copies_; }

 private:
  struct Member {  // kernels of one kind in a graph
    std::uint32_t kind = 0, count = 0;
  };
  struct Place {
    std::uint32_t context = 0, stream = 0;
  };
  // Which ranges are open on each thread.
  using Open = std::map<std::uint16_t, std::vector<LayerId>>;

  void number_streams();
  void pair_samples();
  void gather_graphs();
  // `values`: those of `kind`, as a rule.
  [[nodiscard]] std::string kernel(std::uint32_t kind, const std::string& id,
                                   const RunRecorder::Kind& values) const;
  [[nodiscard]] const std::vector<LayerId>& path(LayerId layer) const;
  void enter(Open& open, std::uint16_t thread, LayerId layer, std::string& text) const;
  [[nodiscard]] LayerId around(std::span<const Call> calls, std::uint16_t thread) const;
  static void leave(Open& open, std::uint16_t thread, std::size_t keep, std::string& text);
  [[nodiscard]] std::int32_t device_of(const Call& call) const;
  std::uint32_t context_of(std::uint32_t id, std::int32_t device, bool add);
  [[nodiscard]] Place place(const Call& call);
  static std::vector<std::uint64_t> soonest_starts(std::span<const Call> calls);
  [[nodiscard]] std::string own_counters(const Call& call) const;
  [[nodiscard]] std::uint64_t time_of(std::uint32_t kind) const;  // 0: unknown

  const RunRecorder& run_;
  const Profile::State& profile_;
  std::vector<Call> calls_;
  std::vector<std::string> metrics_;
  struct Context {
    std::uint32_t id = 0;  // CUPTI's id; 0: unknown
    std::int32_t device = 0;
  };
  std::vector<Context> contexts_;  // by their number in the recording
  // The recording's number of a stream, by CUPTI's context and stream ids.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> streams_;
  struct Own {
    const std::vector<std::string>* metrics = nullptr;  // null: none
    std::size_t first = 0;                              // in run_.values()
  };
  std::vector<Own> own_;  // parallel to calls_
  std::map<std::uint32_t, std::vector<Member>> graphs_;
  mutable std::map<LayerId, std::vector<LayerId>> paths_;  // cache: a step often needs the same
  std::map<std::uint32_t, std::uint32_t> whole_;  // by graph: the kind that has its counters
  std::uint64_t unsaid_copies_ = 0;
};

}  // namespace gable
