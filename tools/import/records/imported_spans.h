// SPDX-License-Identifier: Apache-2.0
// Sums of the ranges of each layer in each step, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/events/layer_tree.h"
#include "tools/streams/sorted_records.h"

namespace gable {

struct ImportedSpan {
  std::uint32_t step = 0;
  LayerId layer = 0;
  std::uint64_t calls = 0, cpu_ns = 0;
  std::uint64_t wait_ns = 0;  // in synchronising calls, those of layers within it excluded
};

class ImportedSpans {
 public:
  void add(const ImportedSpan& span);
  // By step, then by layer, each once; empty behind the last. After the last was added.
  std::optional<ImportedSpan> first();
  std::optional<ImportedSpan> next();

 private:
  struct Earlier {
    bool operator()(const ImportedSpan& a, const ImportedSpan& b) const {
      return std::tie(a.step, a.layer) < std::tie(b.step, b.layer);
    }
  };
  std::optional<ImportedSpan> sum();
  void write();

  std::unordered_map<std::uint64_t, ImportedSpan> recent_;  // by step and layer
  SortedRecords<ImportedSpan, Earlier> records_;
  const ImportedSpan* at_ = nullptr;
};

}  // namespace gable
