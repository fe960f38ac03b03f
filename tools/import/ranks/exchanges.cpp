// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ranks/exchanges.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/roofline/link_roofs.h"

namespace gable {
namespace {

// A root of a broadcast leaves when its data is on its way, and the last of a reduction's tree when
// it has given its part away.
bool everyone_waits(const ImportedMessage& message, Collective kind) {
  switch (kind) {
    case Collective::all_reduce:
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return true;
    case Collective::all_to_all:  // some ranks may have nothing for others
      return message.told && message.bytes.has_value();
    default:
      return false;
  }
}

std::string row_name(const std::vector<std::string>& path, Direction direction,
                     const std::string& name, std::int32_t device, const Dim3& grid,
                     const Dim3& block, const Dim3& cluster, std::uint32_t dynamic_shared) {
  std::string text;
  for (const std::string& part : path) text += part + '\0';
  text += '\n' + to_string(direction) + '\n' + name + '\n' + std::to_string(device);
  for (const Dim3* size : {&grid, &block, &cluster})
    for (const std::uint32_t part : {size->x, size->y, size->z}) text += ' ' + std::to_string(part);
  return text + ' ' + std::to_string(dynamic_shared);
}

class Finder {
 public:
  explicit Finder(Imported& imported) : imported_(imported) {}

  RankExchanges all() {
    found_.world_size = imported_.world_size;
    std::vector<ImportedKernel> kernels;
    for (const auto* each = imported_.kernels.first(); each != nullptr;
         each = imported_.kernels.next())
      if (each->message > 0) kernels.push_back(*each);
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (const ImportedKernel& kernel : kernels)
      streams_[member_of(kernel)].insert(message_of(kernel).stream);
    found_.members.resize(members_.size());
    for (const ImportedKernel& kernel : kernels) add(kernel);
    return std::move(found_);
  }

 private:
  [[nodiscard]] const ImportedMessage& message_of(const ImportedKernel& kernel) const {
    return imported_.messages[kernel.message - 1];
  }

  std::size_t member_of(const ImportedKernel& kernel) {
    const std::pair key(message_of(kernel).process, kernel.device);
    return members_.try_emplace(key, members_.size()).first->second;
  }

  // Ranks make their streams in the same order, whatever numbers these have.
  std::string channel_of(const ImportedKernel& kernel, std::size_t member) {
    const ImportedMessage& message = message_of(kernel);
    if (message.group > 0)
      return "group\n" + imported_.groups[message.group - 1] + '\n' + std::to_string(message.ranks);
    if (message.told) return "of\n" + std::to_string(message.ranks);
    const std::set<std::uint32_t>& streams = streams_[member];
    return "stream\n" +
           std::to_string(std::distance(streams.begin(), streams.find(message.stream))) + '\n' +
           imported_.functions.name(kernel.function);
  }

  std::uint32_t row_of(const ImportedKernel& kernel) {
    const std::pair key(kernel.shape, std::tuple(kernel.layer, kernel.function, kernel.device));
    const auto [known, fresh] = rows_.try_emplace(key, 0);
    if (!fresh) return known->second;
    const LaunchKey launch = launch_key(imported_, kernel);
    const auto next = static_cast<std::uint32_t>(found_.rows.size());
    known->second =
        found_.places
            .try_emplace(row_name(imported_.layers.path(launch.layer),
                                  imported_.layers.node(launch.layer).direction,
                                  imported_.functions.name(launch.function), launch.device,
                                  launch.grid, launch.block, launch.cluster, launch.dynamic_shared),
                         next)
            .first->second;
    if (known->second == next) found_.rows.emplace_back();
    return known->second;
  }

  void add(const ImportedKernel& kernel) {
    const ImportedMessage& message = message_of(kernel);
    const bool counts = kernel.step > 0 || imported_.steps.empty();
    const std::uint32_t row = row_of(kernel);
    if (counts) ++found_.rows[row].launches;
    Collective kind = message.kind;
    if (kind == Collective::unknown)  // a barrier is a small allreduce
      kind = collective_named(imported_.functions.name(kernel.function));
    if (!everyone_waits(message, kind)) {
      if (counts) ++found_.others;
      return;
    }
    const std::size_t member = member_of(kernel);
    ExchangeChannel& channel = found_.members[member][channel_of(kernel, member)];
    channel.ranks = message.ranks;
    channel.named = message.group > 0;
    Exchange& exchange = channel.exchanges.emplace_back();
    exchange.start_ns = kernel.start_ns;
    exchange.end_ns = kernel.end_ns;
    exchange.sequence = message.sequence;
    if (kernel.step > 0) exchange.step = imported_.steps[kernel.step - 1].number;
    exchange.bytes = message.bytes;
    exchange.kind = kind;
    exchange.row = row;
    exchange.counts = counts;
  }

  Imported& imported_;
  RankExchanges found_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> members_;  // process, device
  std::map<std::size_t, std::set<std::uint32_t>> streams_;                 // by member
  std::map<std::pair<std::uint32_t, std::tuple<LayerId, FunctionId, std::int32_t>>, std::uint32_t>
      rows_;
};

}  // namespace

RankExchanges exchanges_of(Imported& imported) { return Finder(imported).all(); }

void fill_exchanges(const RankExchanges& exchanges, Report& report) {
  constexpr double kNearlyAll = 0.95;
  std::unordered_map<std::int64_t, const LayerRow*> layers;
  for (const LayerRow& layer : report.layers) layers.emplace(layer.id, &layer);
  for (KernelRow& kernel : report.kernels) {
    const auto layer = layers.find(kernel.layer);
    if (kernel.counts_again() || layer == layers.end()) continue;
    const auto place = exchanges.places.find(
        row_name(layer->second->path, kernel.direction, kernel.name, kernel.device, kernel.grid,
                 kernel.block, kernel.cluster, kernel.dynamic_shared));
    if (place == exchanges.places.end()) continue;
    const RankExchanges::Row& row = exchanges.rows[place->second];
    const auto known = static_cast<double>(row.known);
    if (row.known == 0 || known < kNearlyAll * static_cast<double>(row.launches)) continue;
    if (!kernel.collective) {
      kernel.collective.emplace().kind = collective_named(kernel.name);
      kernel.collective->ranks = static_cast<std::int64_t>(row.ranks);
    }
    kernel.collective->wait_ns = static_cast<double>(row.wait_ns) / known;
    kernel.collective->transfer_ns = static_cast<double>(row.transfer_ns) / known;
    kernel.collective->others_wait_ns = row.others_wait_ns / known;
  }
  fill_link_roofs(report);
}

}  // namespace gable
