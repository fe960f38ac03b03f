// SPDX-License-Identifier: Apache-2.0
// What the files of other tools say, before it becomes a report: times of kernels with their
// layers (nsys, PyTorch's profiler), counters of kernels (ncu, CUPTI counters in a trace). Times
// ns, sizes bytes. Nothing here holds environment variables, process lists or paths.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "analysis/events/layer_model.h"
#include "analysis/events/layer_tree.h"
#include "analysis/profile/step_record.h"
#include "analysis/report/report.h"
#include "tools/import/records/imported_spans.h"
#include "tools/streams/sorted_records.h"

namespace gable {

// Of a report; so many kernels have names of their own.
inline constexpr std::size_t kMostLaunchKeys = std::size_t{1} << 18;

// What a launch looks like; few of them are different.
struct LaunchShape {
  Dim3 grid{0, 0, 0}, block{0, 0, 0}, cluster;  // 0,0,0: the file does not say
  std::uint32_t dynamic_shared = 0;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

class ShapeTable {
 public:
  std::uint32_t intern(const LaunchShape& shape);
  [[nodiscard]] const LaunchShape& operator[](std::uint32_t index) const { return shapes_[index]; }

 private:
  std::vector<LaunchShape> shapes_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

// What blocks take, by kernel and shape, where a file tells it.
class ResourceTable {
 public:
  // Where a file tells both this and that of a kernel, there are two of its name: neither counts.
  void tell(FunctionId function, std::uint32_t shape, const KernelResources& resources) {
    const auto [known, fresh] = by_kernel_.try_emplace(key(function, shape), resources);
    if (!fresh && !(known->second == resources)) known->second = {};
  }
  [[nodiscard]] KernelResources find(FunctionId function, std::uint32_t shape) const {
    const auto found = by_kernel_.find(key(function, shape));
    return found == by_kernel_.end() ? KernelResources{} : found->second;
  }

 private:
  static std::uint64_t key(FunctionId function, std::uint32_t shape) {
    return (std::uint64_t{function} << 32) | shape;
  }
  std::unordered_map<std::uint64_t, KernelResources> by_kernel_;
};

struct ImportedKernel {
  std::uint64_t start_ns = 0, end_ns = 0;
  FunctionId function = 0;
  std::uint32_t shape = 0;
  LayerId layer = 0;
  std::int32_t device = 0;
  std::uint32_t step = 0;     // 0: in none
  std::uint32_t message = 0;  // place in Imported::messages + 1; 0: none
  std::uint32_t context = 0, stream = 0;
  std::uint64_t place = 0;  // in the files: of those that start together the lower comes first
};

// Of a collective's kernel: what it exchanges, and what tells its partners on other ranks.
struct ImportedMessage : CollectiveCall {
  bool told = true;           // by the file; false: all that is known is the kernel's name
  std::uint32_t group = 0;    // place in Imported::groups + 1; 0: the file names none
  std::uint32_t process = 0;  // any number that differs
  std::uint32_t stream = 0;
  std::optional<std::uint64_t> sequence;  // within the group, the same on all ranks
};

struct ImportedCopy {
  CopyRecord record;
  LayerId layer = 0;
  bool placed = false;
  std::uint32_t step = 0;
  std::uint64_t place = 0;
};

// All kernels of an import, read back by step and start, in bounded memory.
class ImportedKernels {
 public:
  // Its place is behind those that are there.
  void add(ImportedKernel kernel) {
    kernel.place = size();
    add_at(kernel);
  }
  void add_at(const ImportedKernel& kernel);
  [[nodiscard]] std::uint64_t size() const { return records_.size(); }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  // As of SortedRecords.
  const ImportedKernel* first() { return records_.first(); }
  const ImportedKernel* next() { return records_.next(); }

  // What they are and where they ran.
  [[nodiscard]] const std::set<FunctionId>& functions() const { return functions_; }
  [[nodiscard]] const std::set<std::int32_t>& devices() const { return devices_; }
  // The last step that any was launched in; 0: none.
  [[nodiscard]] std::uint32_t last_step() const { return last_step_; }

 private:
  struct Earlier {
    bool operator()(const ImportedKernel& a, const ImportedKernel& b) const {
      return std::tie(a.step, a.start_ns, a.place) < std::tie(b.step, b.start_ns, b.place);
    }
  };
  SortedRecords<ImportedKernel, Earlier> records_;
  std::set<FunctionId> functions_;
  std::set<std::int32_t> devices_;
  std::uint32_t last_step_ = 0;
  std::vector<bool> known_;  // functions
};

struct CopyEarlier {
  bool operator()(const ImportedCopy& a, const ImportedCopy& b) const {
    return std::tie(a.step, a.place) < std::tie(b.step, b.place);
  }
};

// GPU work of the calls made within a range, as nsys projects it: from the first start to the last
// end, summed over the range's instances.
struct Projection {
  std::uint64_t instances = 0, span_ns = 0, operations = 0;
};

struct ImportedStep {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> number = {};  // that the program gave it, the same on all ranks
};

// What all readers of one import write to.
struct Imported {
  std::string step_range;  // a regular expression: the ranges that are steps; empty: the file says
  LayerTree layers;
  FunctionTable functions{kMostLaunchKeys, std::size_t{256} << 20};
  ShapeTable shapes;
  ResourceTable resources;
  std::unordered_map<FunctionId, bool> exchanges;  // whether a function is a collective's

  // --- times
  ImportedKernels kernels;
  SortedRecords<ImportedCopy, CopyEarlier> copies;
  std::vector<ImportedMessage> messages;  // of collectives' kernels, without keys
  std::vector<std::string> groups;        // of ranks, by all that the file says of each
  std::vector<ImportedStep> steps;        // place 0 is step 1
  ImportedSpans spans;
  std::map<std::pair<std::int32_t, LayerId>, Projection> projections;  // by device
  std::vector<std::pair<std::uint32_t, ModelDescription>> models;      // of steps; 0: of all
  std::uint64_t without_call = 0;           // kernels whose launch is not in the file
  bool has_calls = false;                   // a file with times has calls
  std::optional<std::int64_t> rank;         // of the process, where a file names it
  std::optional<std::uint64_t> world_size;  // ranks of its job, likewise
  std::vector<StepRecord> step_records;

  // --- counters, of launches in their order
  struct CounterLaunch {
    FunctionId function = 0;
    std::uint32_t shape = 0;
    std::int32_t device = 0;
    LayerId layer = 0;
    std::vector<std::pair<std::uint32_t, double>> values;  // metric, value
  };
  std::vector<std::string> metrics;
  std::vector<CounterLaunch> counters;

  std::map<std::int32_t, DeviceInfo> devices;
  std::vector<Ceiling> stated;                         // roofs that a file names, or --gpu
  bool gpu_is_named = false;                           // by the user
  bool has_foreign_gpu = false;                        // of another maker than NVIDIA
  std::vector<std::string> times_from, counters_from;  // "nsys 2025.3 (a.sqlite)"
  std::vector<std::string> notes;
};

// What is known of a kernel whose name says that it is a collective: its place in messages + 1,
// else 0.
[[nodiscard]] std::uint32_t name_message(Imported& imported, FunctionId function,
                                         std::uint32_t process, std::uint32_t stream);

// What a kernel's launch is in a report.
[[nodiscard]] LaunchKey launch_key(const Imported& imported, const ImportedKernel& kernel);

// What `file` says of a GPU joins what others said. Throws WrongUse where it is another GPU.
void add_device(const DeviceInfo& device, const std::string& file, Imported& imported);

}  // namespace gable
