// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/operator_rows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/events/shapes_key.h"

namespace gable {
namespace {

// Of a launch key everything that tells kernels apart.
using KeyParts = std::tuple<LayerId, FunctionId, std::int32_t, std::array<std::uint32_t, 10>>;
KeyParts parts_of(const LaunchKey& key) {
  return {key.layer,
          key.function,
          key.device,
          {key.grid.x, key.grid.y, key.grid.z, key.block.x, key.block.y, key.block.z, key.cluster.x,
           key.cluster.y, key.cluster.z, key.dynamic_shared}};
}

class Operators {
 public:
  Operators(const Profile::State& state, const std::vector<KernelOfLayer>& kernels,
            const LayerRows& layers)
      : state_(state), kernels_(kernels), layers_(layers) {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (!kernels[i].row.counts_again()) places_.emplace(parts_of(kernels[i].key), i);
  }

  std::vector<OperatorRow> run() {
    double seen = 0;
    for (const ModelDescription& model : state_.models) seen += steps_of(model);
    for (const ModelDescription& model : state_.models) {
      const double share =
          (seen > 0 ? steps_of(model) / seen : 1 / static_cast<double>(state_.models.size())) /
          static_cast<double>(model.steps);
      for (const OperatorCalls& calls : model.operators) add(calls, share);
    }
    for (OperatorRow& row : rows_)
      for (const OperatorRow::Launched& each : row.kernels)
        row.shared = row.shared || users_[each.kernel] > 1;
    std::stable_sort(rows_.begin(), rows_.end(), [](const OperatorRow& a, const OperatorRow& b) {
      return a.time_ns.value_or(0) > b.time_ns.value_or(0);
    });
    return std::move(rows_);
  }

 private:
  [[nodiscard]] double steps_of(const ModelDescription& model) const {
    return static_cast<double>(state_.classes.steps_of(model.sequence_hash));
  }

  void add(const OperatorCalls& calls, double share) {
    if (calls.launches.empty() && calls.left_out == 0 && !(calls.flops > 0) && !(calls.bytes > 0))
      return;
    const std::int32_t device = calls.launches.empty() ? 0 : calls.launches.front().first.device;
    const auto layer = layers_.ids.find({device, calls.layer});
    if (layer == layers_.ids.end()) return;  // left out of the report
    OperatorRow row;
    row.layer = layer->second;
    row.direction = layers_.rows[static_cast<std::size_t>(layer->second)].direction;
    row.device = device;
    row.name = calls.name;
    row.inputs = calls.inputs;
    row.place = calls.place;
    row.calls = static_cast<double>(calls.calls) * share;
    if (calls.flops_known) row.flops_analytic = calls.flops * share;
    if (calls.bytes_known) row.bytes_analytic = calls.bytes * share;
    add_kernels(calls, share, row);
    merge(std::move(row));
  }

  void add_kernels(const OperatorCalls& calls, double share, OperatorRow& row) const {
    row.launches = static_cast<double>(calls.left_out) * share;
    row.time_ns = row.flops = 0;
    const auto plus = [](Maybe& sum, const Maybe& each, double launches) {
      sum = sum && each ? Maybe(*sum + *each * launches) : std::nullopt;
    };
    if (calls.left_out > 0) row.time_ns = row.flops = std::nullopt;
    for (const auto& [key, count] : calls.launches) {
      const double launches = static_cast<double>(count) * share;
      row.launches += launches;
      const auto place = places_.find(parts_of(key));
      if (place == places_.end()) {
        row.time_ns = row.flops = std::nullopt;
        continue;
      }
      const KernelRow& kernel = kernels_[place->second].row;
      plus(row.time_ns, kernel.time_mean_ns, launches);
      plus(row.flops, kernel.flops.total, launches);
      row.kernels.push_back({static_cast<std::int64_t>(place->second), launches});
    }
    if (calls.launches.empty()) row.time_ns = row.flops = std::nullopt;
  }

  // Steps of several kinds may have the same call.
  void merge(OperatorRow row) {
    std::string key = std::to_string(row.layer) + '\0' + row.name + '\0' + row.place + '\0' +
                      shapes_key(row.inputs);
    const auto [known, fresh] = known_.emplace(std::move(key), rows_.size());
    if (fresh) {
      for (const OperatorRow::Launched& each : row.kernels) ++users_[each.kernel];
      rows_.push_back(std::move(row));
      return;
    }
    OperatorRow& sum = rows_[known->second];
    const auto plus = [](Maybe& to, const Maybe& part) {
      to = to && part ? Maybe(*to + *part) : std::nullopt;
    };
    sum.calls += row.calls;
    sum.launches += row.launches;
    plus(sum.time_ns, row.time_ns);
    plus(sum.flops, row.flops);
    plus(sum.flops_analytic, row.flops_analytic);
    plus(sum.bytes_analytic, row.bytes_analytic);
    for (const OperatorRow::Launched& each : row.kernels) {
      const auto same =
          std::find_if(sum.kernels.begin(), sum.kernels.end(),
                       [&](const auto& other) { return other.kernel == each.kernel; });
      if (same != sum.kernels.end()) {
        same->launches += each.launches;
      } else {
        ++users_[each.kernel];
        sum.kernels.push_back(each);
      }
    }
  }

  const Profile::State& state_;
  const std::vector<KernelOfLayer>& kernels_;
  const LayerRows& layers_;
  std::map<KeyParts, std::size_t> places_;
  std::vector<OperatorRow> rows_;
  std::unordered_map<std::string, std::size_t> known_;
  std::map<std::int64_t, int> users_;  // of a kernel: operators that launch it
};

}  // namespace

std::vector<OperatorRow> operator_rows(const Profile::State& state, const UnitScale& unit,
                                       const std::vector<KernelOfLayer>& kernels,
                                       const LayerRows& layers, std::vector<std::string>& notes) {
  if (state.models.empty() || !unit.step) return {};
  std::uint64_t left_out = 0;
  for (const ModelDescription& model : state.models) left_out += model.operators_left_out;
  if (left_out > 0)
    notes.push_back("Operators: " + std::to_string(left_out) +
                    " calls of the described steps have no row, because so many differ in layer, "
                    "shapes or place.");
  return Operators(state, kernels, layers).run();
}

}  // namespace gable
