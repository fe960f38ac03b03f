// SPDX-License-Identifier: Apache-2.0
// Which range was open at a call, for any number of ranges and calls: both are walked through by
// thread and time, and only the ranges that are open are kept. RangeNest tells the same of ranges
// that are all in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tools/import/records/imported.h"
#include "tools/import/records/range_names.h"
#include "tools/streams/sorted_records.h"

namespace gable {

struct SweptRange {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0, name = 0;
};

// Of ranges that start together the longer is around the other.
struct SweptEarlier {
  bool operator()(const SweptRange& a, const SweptRange& b) const {
    return std::tie(a.thread, a.start_ns, b.end_ns) < std::tie(b.thread, b.start_ns, a.end_ns);
  }
};

using SweptRanges = SortedRecords<SweptRange, SweptEarlier>;

class RangeSweep {
 public:
  using Seen = std::function<void(const SweptRange&, LayerId)>;

  // `seen` is told of each range once.
  RangeSweep(SweptRanges& ranges, const RangeNames& names, LayerTree& layers, Seen seen)
      : ranges_(ranges),
        names_(names),
        layers_(layers),
        seen_(std::move(seen)),
        next_(ranges.first()) {}

  // The layer of the innermost range that was open there; 0: none was. Places rise by thread, then
  // by time.
  LayerId at(std::uint32_t thread, std::uint64_t when_ns);
  // GPU work of a call made at the place that at() told last: counts for all ranges around it.
  void project(std::int32_t device, std::uint64_t start_ns, std::uint64_t end_ns);
  // The ranges behind the last place too, and the sums over the instances of each layer.
  void finish(Imported& imported);

 private:
  struct Work {
    std::int32_t device = 0;
    std::uint64_t first = UINT64_MAX, last = 0, operations = 0;
    void add(const Work& other);
  };
  struct Open {
    std::uint64_t end_ns = 0;
    LayerId layer = 0;
    std::vector<Work> work;  // by device
    void add(const Work& more);
  };

  void open(const SweptRange& range);
  void close();
  void close_all();

  SweptRanges& ranges_;
  const RangeNames& names_;
  LayerTree& layers_;
  const Seen seen_;
  const SweptRange* next_;
  std::uint32_t thread_ = 0;
  std::vector<Open> open_;  // behind the first depth_ are those that can be used again
  std::size_t depth_ = 0;
  std::unordered_map<std::uint64_t, LayerId> known_;    // by the layer around and name
  std::unordered_map<std::uint64_t, Projection> sums_;  // by device and layer
};

// How often each name is that of a range with at most one around it.
[[nodiscard]] std::map<std::uint32_t, std::uint64_t> outer_ranges(SweptRanges& ranges);

}  // namespace gable
