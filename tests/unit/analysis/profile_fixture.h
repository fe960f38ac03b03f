// SPDX-License-Identifier: Apache-2.0
// A program to profile, written by hand: layers, kernels, windows and records with few words.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/builder/report_builder.h"
#include "analysis/profile/profile.h"
#include "tests/unit/analysis/kept_report.h"

namespace gable::tests {

inline constexpr Phase kTime{PhaseKind::time, 0}, kFlops{PhaseKind::flops, 0},
    kHw1{PhaseKind::hw, 0}, kHw2{PhaseKind::hw, 1}, kWarmup{PhaseKind::warmup, 0};

inline const std::vector<std::string> kHwMetrics = {
    "dram__sectors_read.sum", "dram__sectors_write.sum", "gpu__time_duration.sum"};
inline const std::vector<std::string> kFlopsMetrics = {
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};

// An A100 with 40 GB: 19.49 TFLOP/s FP32, 1555.2 GB/s.
inline DeviceInfo a100() {
  DeviceInfo device;
  device.id = 0;
  device.name = "NVIDIA A100-SXM4-40GB";
  device.chip = "GA100";
  device.compute_major = 8;
  device.sm_count = 108;
  device.sm_clock_max_hz = 1410000000;
  device.memory_clock_max_hz = 1215000000;
  device.memory_bus_bits = 5120;
  device.memory_bytes = 42505273344;
  device.l2_bytes = 41943040;
  return device;
}

class ProfileTest : public ::testing::Test {
 protected:
  LayerTree layers;
  FunctionTable functions;
  Profile profile{layers, functions};
  WindowId window = kNoWindow;
  std::uint32_t next_correlation = 1, launches_before = 1;

  LayerId layer(const std::vector<std::string>& path, Direction direction = Direction::none) {
    LayerId id = 0;
    for (const std::string& name : path) id = layers.child(id, name, direction);
    return id;
  }
  LaunchKey key(LayerId in, const std::string& function, std::uint32_t grid = 1) {
    LaunchKey key;
    key.layer = in;
    key.function = functions.intern(function);
    key.grid = {grid, 1, 1};
    key.block = {128, 1, 1};
    return key;
  }
  void begin(WindowId id, Phase phase) {
    window = id;
    launches_before = next_correlation;
    profile.begin_window(id, phase);
  }
  void end(Phase phase, bool keep = true, std::uint64_t start_ns = 0, std::uint64_t end_ns = 0,
           std::string reason = {}, std::uint64_t sequence_hash = 0) {
    WindowEnd end;
    end.window = window;
    end.phase = phase;
    end.keep = keep;
    end.reason = std::move(reason);
    end.start_ns = start_ns;
    end.end_ns = end_ns;
    end.sequence_hash = sequence_hash;
    end.launches = next_correlation - launches_before;
    end.step = window;  // steps follow each other as their windows do
    profile.end_window(end);
    window = kNoWindow;
  }
  // Returns the correlation id.
  std::uint32_t launch(const LaunchKey& launched) {
    profile.add(LaunchEvent{launched, window, next_correlation, false});
    return next_correlation++;
  }
  void record(std::uint32_t correlation, std::uint64_t start_ns, std::uint64_t end_ns) {
    KernelRecord record;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    record.correlation = correlation;
    profile.add(record);
  }
  void timed(const LaunchKey& launched, std::uint64_t start_ns, std::uint64_t end_ns) {
    record(launch(launched), start_ns, end_ns);
  }
  void sample(Phase phase, const LaunchKey& launched, std::vector<double> values) {
    launch(launched);
    profile.add(phase, window, CounterSample{launched, values.data()});
  }
  Report report() { return kept(build_report(profile, RunInfo{})); }
};

inline const KernelRow& kernel_named(const Report& report, const std::string& name) {
  for (const KernelRow& row : report.kernels) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no kernel " << name;
  static const KernelRow none;
  return none;
}

inline const LayerRow& layer_at(const Report& report, const std::vector<std::string>& path,
                                Direction direction = Direction::none) {
  for (const LayerRow& row : report.layers) {
    if (row.path == path && row.direction == direction) return row;
  }
  ADD_FAILURE() << "no layer of " << path.size() << " names, direction " << word_of(direction);
  static const LayerRow none;
  return none;
}

inline bool has_flag(const KernelRow& row, const std::string& flag) {
  for (const std::string& each : row.flags) {
    if (each == flag) return true;
  }
  return false;
}

inline bool has_note(const Report& report, const std::string& part) {
  for (const std::string& note : report.run.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace gable::tests
