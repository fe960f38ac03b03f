// SPDX-License-Identifier: Apache-2.0
// Every field of the report reaches those that make something of it, or is named here as one that
// does not: a field that is new must be one or the other.
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "analysis/report/report_json_read.h"
#include "tests/unit/analysis/report/full_report.h"
#include "tools/export/export.h"
#include "tools/merge/merge.h"
#include "tools/page/page_data.h"

namespace gable::tests {
namespace {

using Json = nlohmann::json;
using Make = std::function<std::string(const Report&)>;

// Another value of the same type; the words are some of each enum's.
std::vector<Json> others(const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer())
    return {value.get<std::int64_t>() * 2, value.get<std::int64_t>() + 1};
  if (value.is_number()) return {value.get<double>() * 2, 0.5};
  if (!value.is_string()) return {};
  std::vector<Json> out;
  for (const char* word : {"another", "forward", "memory", "compute", "hw", "time", "l2", "boost",
                           "peer", "run", "range", "playback", "extrapolated"})
    if (value != word) out.emplace_back(word);
  return out;
}

// The pointer without the places in lists: "/layers/1/flops" is "/layers/flops".
std::string name_of(const std::string& pointer) {
  static const std::regex kPlace("/[0-9]+(?=/|$)");
  return std::regex_replace(pointer, kPlace, "");
}

// Fields below `part` whose value makes no difference to what `make` makes. Not those that can have
// no other value in this report.
std::set<std::string> without_effect(const Report& report, const std::string& part,
                                     const Make& make) {
  Json json = Json::parse(to_json(kept(report)));
  const std::string before = make(report);
  std::set<std::string> seen, unseen;
  const Json flat = json.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.starts_with(part)) continue;
    bool possible = false, differs = false;
    for (const Json& other : others(value)) {
      json[Json::json_pointer(pointer)] = other;
      const ParsedReport read = from_json(json.dump());
      possible = possible || read.report;
      differs = read.report && make(*read.report) != before;
      if (differs) break;
    }
    json[Json::json_pointer(pointer)] = value;
    (possible && !differs ? unseen : seen).insert(name_of(pointer));
  }
  for (const std::string& name : seen) unseen.erase(name);
  return unseen;
}

// A line each, which is how a difference is read.
std::string lines(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

// Of rows of kernels, whose rates and roofs are made anew of the kernel's own numbers.
std::set<std::string> besides_those_made_anew(std::set<std::string> names) {
  names.merge(std::set<std::string>{
      "/kernels/bytes_per_s", "/kernels/flops_per_s", "/kernels/intensity/dram",
      "/kernels/intensity/l1", "/kernels/intensity/l2", "/kernels/roof/bound",
      "/kernels/roof/ceiling", "/kernels/roof/compute_ns", "/kernels/roof/fraction",
      "/kernels/roof/level", "/kernels/roof/memory_ns", "/kernels/roof/source",
      "/kernels/saving_ns"});
  return names;
}

std::string page(const Report& report) { return page_data({report}, {"file"}); }

TEST(EveryField, PageShowsLayers) {
  EXPECT_EQ(
      lines(without_effect(full_report(), "/layers", page)),
      lines({// Reads and writes are shown together.
             "/layers/bytes/dram_read", "/layers/bytes/dram_write",
             // What formulas say beside FLOPs, bytes, and their ratios to what was counted.
             "/layers/model/bytes_per_s", "/layers/model/dtypes", "/layers/model/flops_per_s",
             "/layers/model/intensity", "/layers/model/operators", "/layers/model/roof/bound",
             "/layers/model/roof/ceiling", "/layers/model/roof/compute_ns",
             "/layers/model/roof/fraction", "/layers/model/roof/level",
             "/layers/model/roof/memory_ns", "/layers/model/roof/source", "/layers/model/saving_ns",
             "/layers/model/self/bytes_analytic", "/layers/model/self/flops_analytic",
             "/layers/model/self/types/tf32", "/layers/model/types/fp32",
             // Never another.
             "/layers/model/sources/bytes", "/layers/model/sources/flops",
             "/layers/model/sources/time",
             // The dots have them, where a layer has kernels of its own.
             "/layers/roof/compute_ns", "/layers/roof/memory_ns",
             "/layers/step_saving_self_ns/high", "/layers/step_saving_self_ns/low",
             // Of each kernel, and of all in the table.
             "/layers/collectives/others_wait_ns", "/layers/collectives/time_ns",
             "/layers/collectives/transfer_ns", "/layers/collectives/wait_ns",
             // `gable merge` shows them.
             "/layers/spread/gpus", "/layers/spread/max_ns", "/layers/spread/mean_ns",
             "/layers/spread/min_ns", "/layers/spread/slowest", "/layers/spread/stddev_ns",
             // Of a token, the time on the GPU.
             "/layers/tokens/forwards", "/layers/tokens/host_ns", "/layers/tokens/ns_each",
             "/layers/tokens/per_forward", "/layers/tokens/per_s"}));
}

TEST(EveryField, PageShowsKernels) {
  EXPECT_EQ(lines(without_effect(full_report(), "/kernels", page)),
            lines(besides_those_made_anew(
                {// A chart has no place for them.
                 "/kernels/bytes/dram_read", "/kernels/bytes/dram_write", "/kernels/cluster",
                 "/kernels/counters/dram__sectors_read.sum", "/kernels/dynamic_shared",
                 "/kernels/graph", "/kernels/nodes", "/kernels/overlap", "/kernels/ranges",
                 "/kernels/symbol", "/kernels/time_ns/max", "/kernels/time_ns/min",
                 // The rate on the bus and the share of the roof say it.
                 "/kernels/collective/bus_bytes", "/kernels/collective/roof/source",
                 // Of each process, summed.
                 "/kernels/collective/others_wait_ns"})));
}

TEST(EveryField, PageShowsMemory) {
  EXPECT_EQ(lines(without_effect(full_report(), "/memory", page)),
            lines({// The chart has them as its first and last points.
                   "/memory/begin/at", "/memory/begin/bytes", "/memory/begin/layer",
                   "/memory/begin/operator", "/memory/end/at", "/memory/end/bytes",
                   "/memory/end/layer", "/memory/end/operator",
                   // The row has the layer's path.
                   "/memory/held/layer",
                   // It is derived.
                   "/memory/unexplained_bytes"}));
}

// Of two ranks.
std::string merged(const Report& report) {
  std::vector<Report> ranks = {report, report};
  ranks[1].run.rank = 4;
  const Merged merged = merge_reports(ranks, {"a", "b"});
  return merged.report ? to_json(*merged.report) : merged.error;
}

TEST(EveryField, MergedReportsHaveIt) {
  Report report = full_report();
  report.run.processes.clear();
  report.run.ranks.clear();
  std::swap(report.layers[0], report.layers[1]);  // as they are written: the parent first
  report.layers[0].path = {"ResNet"};
  report.kernels[0].graph.reset();
  report.kernels[0].nodes.reset();
  report.kernels[0].ranges.reset();
  EXPECT_EQ(
      lines(without_effect(report, "/", merged)),
      lines({// That of who merges, and the kind of GPU.
             "/gable/version", "/kernels/device",
             // Each rank's own.
             "/layers/compiled/modules/time_ns",
             // A merged report has no operators: which kernels are whose is known of one rank.
             "/memory/allocator_peak_bytes", "/memory/begin/at", "/memory/begin/bytes",
             "/memory/begin/layer", "/memory/begin/operator", "/memory/device", "/memory/end/at",
             "/memory/end/bytes", "/memory/end/layer", "/memory/end/operator", "/memory/held/bytes",
             "/memory/held/layer", "/memory/held/path", "/memory/held/tensors", "/memory/peak/at",
             "/memory/peak/bytes", "/memory/peak/layer", "/memory/peak/operator",
             "/memory/reserved_bytes", "/memory/timeline/at", "/memory/timeline/bytes",
             "/memory/timeline/layer", "/memory/timeline/operator", "/memory/unexplained_bytes",
             "/operators/bytes_analytic", "/operators/calls", "/operators/device",
             "/operators/direction", "/operators/flops", "/operators/flops_analytic",
             "/operators/inputs/dtype", "/operators/inputs/shape", "/operators/kernels/kernel",
             "/operators/kernels/launches", "/operators/launches", "/operators/layer",
             "/operators/name", "/operators/place", "/operators/shared", "/operators/time_ns",
             // Made anew of sums.
             "/kernels/bytes_per_s", "/kernels/flops_per_s", "/kernels/intensity/dram",
             "/kernels/intensity/l1", "/kernels/intensity/l2", "/kernels/roof/bound",
             "/kernels/roof/ceiling", "/kernels/roof/compute_ns", "/kernels/roof/fraction",
             "/kernels/roof/level", "/kernels/roof/memory_ns", "/kernels/roof/source",
             "/kernels/saving_ns", "/copies/bytes_per_s", "/copies/roof/ceiling",
             "/copies/roof/fraction", "/copies/roof/source", "/kernels/collective/bus_bytes_per_s",
             "/kernels/collective/roof/ceiling", "/kernels/collective/roof/fraction",
             "/kernels/collective/roof/source", "/layers/bytes/dram", "/layers/bytes/dram_read",
             "/layers/bytes/dram_write", "/layers/bytes/l1", "/layers/bytes/l2",
             "/layers/bytes_per_s", "/layers/coverage/bytes", "/layers/coverage/flops",
             "/layers/flops/fp16", "/layers/flops/fp32", "/layers/flops/fp64",
             "/layers/flops/tensor/bf16", "/layers/flops/tensor/tf32", "/layers/flops/total",
             "/layers/flops_per_s", "/layers/intensity/dram", "/layers/intensity/l1",
             "/layers/intensity/l2", "/layers/launches", "/layers/metrics/branch_uniformity",
             "/layers/metrics/compute_throughput", "/layers/metrics/dram_throughput",
             "/layers/metrics/l1_hit_rate", "/layers/metrics/l2_hit_rate",
             "/layers/metrics/l2_sectors_per_request", "/layers/metrics/memory_mix/global",
             "/layers/metrics/memory_throughput", "/layers/metrics/mix/fp32",
             "/layers/metrics/mix/integer", "/layers/metrics/occupancy",
             "/layers/metrics/sectors_per_load", "/layers/metrics/sectors_per_store",
             "/layers/metrics/warp_efficiency", "/layers/metrics/warp_efficiency_predicated",
             "/layers/ops/int8", "/layers/roof/bound", "/layers/roof/ceiling",
             "/layers/roof/compute_ns", "/layers/roof/fraction", "/layers/roof/level",
             "/layers/roof/memory_ns", "/layers/roof/source", "/layers/saving_ns",
             "/layers/spread/gpus", "/layers/spread/max_ns", "/layers/spread/mean_ns",
             "/layers/spread/min_ns", "/layers/spread/slowest", "/layers/spread/stddev_ns",
             "/layers/time_ns/self", "/layers/time_share", "/layers/time_source",
             "/layers/model/coverage/bytes", "/layers/model/coverage/flops",
             "/layers/flops_over_forward", "/layers/model/bytes_per_s", "/layers/model/bytes_ratio",
             "/layers/model/flops_per_s", "/layers/model/flops_ratio", "/layers/model/intensity",
             "/layers/model/roof/bound", "/layers/model/roof/ceiling",
             "/layers/model/roof/compute_ns", "/layers/model/roof/fraction",
             "/layers/model/roof/level", "/layers/model/roof/memory_ns",
             "/layers/model/roof/source", "/layers/model/saving_ns", "/layers/tokens/ns_each",
             "/layers/tokens/per_s",
             // Medians of several cannot be known.
             "/kernels/time_ns/median",
             // Never another.
             "/layers/model/sources/bytes", "/layers/model/sources/flops",
             "/layers/model/sources/time",
             // Each process keeps to its own budget.
             "/run/overhead/added_ns", "/run/overhead/added_percent",
             "/run/overhead/budget_percent"}));
}

std::string csv_of_kernels(const Report& report) {
  ExportOptions options;
  options.query.kernels = true;
  return export_csv({report}, {"file"}, options);
}

// Rows of layers are made of those of kernels.
TEST(EveryField, CsvHasKernels) {
  EXPECT_EQ(
      lines(without_effect(full_report(), "/kernels", csv_of_kernels)),
      lines(besides_those_made_anew(
          {// In their sums.
           "/kernels/bytes/dram_read", "/kernels/bytes/dram_write", "/kernels/collective/bus_bytes",
           // The report has them, by which the row is found.
           "/kernels/collective/one_node", "/kernels/collective/roof/ceiling",
           "/kernels/collective/roof/source", "/kernels/counters/dram__sectors_read.sum",
           "/kernels/dynamic_shared", "/kernels/graph", "/kernels/nodes", "/kernels/ops/int8",
           "/kernels/overlap", "/kernels/ranges", "/kernels/samples/flops", "/kernels/samples/hw",
           "/kernels/symbol"})));
}

}  // namespace
}  // namespace gable::tests
