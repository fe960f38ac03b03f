// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/link_roofs.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/base/units.h"
#include "analysis/events/collective.h"
#include "analysis/report/report_words.h"
#include "analysis/roofline/ceilings.h"

namespace gable {
namespace {

// byte/s of one lane, or of one link, in one direction.
struct Generation {
  int number;
  double bytes_per_s;
};

// 2.5 and 5 GT/s with 8b/10b; 8, 16 and 32 GT/s with 128b/130b; 64 GT/s with 242 of the 256 byte of
// a flit.
constexpr std::array<Generation, 6> kPcieLane = {{
    {1, 2.5 * kGiga / 8 * 8 / 10},
    {2, 5 * kGiga / 8 * 8 / 10},
    {3, 8 * kGiga / 8 * 128 / 130},
    {4, 16 * kGiga / 8 * 128 / 130},
    {5, 32 * kGiga / 8 * 128 / 130},
    {6, 64 * kGiga / 8 * 242 / 256},
}};

// P100 (4 links: 80 GB/s each way), V100 (6: 150), A100 (12: 300), H100 (18: 450), B200 (18: 900).
constexpr std::array<Generation, 5> kNvlink = {{
    {1, 20 * kGiga},
    {2, 25 * kGiga},
    {3, 25 * kGiga},
    {4, 25 * kGiga},
    {5, 50 * kGiga},
}};

template <std::size_t kCount>
double rate_of(const std::array<Generation, kCount>& table, int number) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Generation& each) { return each.number == number; });
  return found == table.end() ? 0 : found->bytes_per_s;
}

Ceiling link(const DeviceInfo& device, const char* name, double bytes_per_s,
             const std::string& of) {
  return {device.id,    CeilingKind::link, name, bytes_per_s, "theoretical: " + of + ", each way",
          SmClock::none};
}

LinkUse use_of(const std::optional<Ceiling>& roof, const Maybe& bytes_per_s) {
  if (!roof || !bytes_per_s) return {};
  return {*bytes_per_s / roof->value, roof->name, roof->source.substr(0, roof->source.find(':'))};
}

// What the report lists by that name, which also has what was measured or a data sheet says.
std::optional<Ceiling> listed(const Report& report, std::int32_t device, std::string_view name) {
  const Ceiling* best = nullptr;
  for (const Ceiling& each : report.ceilings)
    if (each.device == device && each.kind == CeilingKind::link && each.name == name &&
        each.value > 0 && (best == nullptr || preference(each) > preference(*best)))
      best = &each;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// What was measured is of a GPU of this kind, which may have been in a faster slot.
std::optional<Ceiling> host_roof(const Report& report, const DeviceInfo& device, CopyKind kind) {
  auto known = listed(report, device.id, "pcie");
  if (!known) known = host_link(device);
  auto measured = listed(report, device.id, word_of(kind));
  return measured && (!known || measured->value <= known->value) ? measured : known;
}

std::optional<Ceiling> peer_roof(const Report& report, const DeviceInfo& device) {
  if (auto known = listed(report, device.id, "nvlink")) return known;
  return peer_link(device);
}

// GPUs that share a package or a board with their host's CPU reach it over NVLink-C2C, and PCIe is
// for other things.
bool beside_its_host(const DeviceInfo& device) {
  constexpr std::array<std::string_view, 5> kNames = {"GH200", "GB200", "GB300", "GB10", "Thor"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view part) {
    return device.name.find(part) != std::string::npos;
  });
}

void add(std::optional<CollectiveTimes>& sum, const KernelRow& kernel) {
  CollectiveTimes& times = sum ? *sum : sum.emplace();
  times.time_ns += kernel.time_total_ns.value_or(0);
  if (!kernel.collective || !kernel.collective->wait_ns || !kernel.collective->transfer_ns) return;
  const auto plus = [&](Maybe& to, const Maybe& part) {
    if (part) to = to.value_or(0) + *part * kernel.launches;
  };
  plus(times.wait_ns, kernel.collective->wait_ns);
  plus(times.transfer_ns, kernel.collective->transfer_ns);
  plus(times.others_wait_ns, kernel.collective->others_wait_ns);
}

// Into the layers of collectives and those above.
void sum_collectives(Report& report) {
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    report.layers[i].collectives.reset();
    places.emplace(report.layers[i].id, i);
  }
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counts_again() || !kernel.time_total_ns || !is_collective(kernel.name)) continue;
    std::size_t left = report.layers.size();  // parents come from files: a cycle must end
    for (auto at = places.find(kernel.layer); at != places.end() && left > 0; --left) {
      LayerRow& layer = report.layers[at->second];
      add(layer.collectives, kernel);
      if (!layer.parent) break;
      at = places.find(*layer.parent);
    }
  }
}

}  // namespace

std::optional<CollectiveTimes> collectives_of_roots(const Report& report) {
  std::optional<CollectiveTimes> sum;
  const auto plus = [](Maybe& to, const Maybe& part) {
    if (part) to = to.value_or(0) + *part;
  };
  for (const LayerRow& layer : report.layers) {
    if (layer.parent || !layer.collectives) continue;
    CollectiveTimes& times = sum ? *sum : sum.emplace();
    times.time_ns += layer.collectives->time_ns;
    plus(times.wait_ns, layer.collectives->wait_ns);
    plus(times.transfer_ns, layer.collectives->transfer_ns);
    plus(times.others_wait_ns, layer.collectives->others_wait_ns);
  }
  return sum;
}

std::optional<Ceiling> host_link(const DeviceInfo& device) {
  if (beside_its_host(device)) return std::nullopt;
  const auto& [generation, width] = device.links.pcie;
  const double lane = rate_of(kPcieLane, generation);
  if (lane <= 0 || width <= 0) return std::nullopt;
  return link(device, "pcie", lane * width,
              "PCIe " + std::to_string(generation) + ".0 x" + std::to_string(width));
}

std::optional<Ceiling> peer_link(const DeviceInfo& device) {
  const auto& links = device.links.nvlinks;
  if (!links) return std::nullopt;
  if (*links == 0) return host_link(device);
  const double one = rate_of(kNvlink, device.links.nvlink_version);
  if (one <= 0) return std::nullopt;
  return link(device, "nvlink", one * static_cast<double>(*links),
              "NVLink " + std::to_string(device.links.nvlink_version) + ", " +
                  std::to_string(*links) + " links");
}

std::vector<Ceiling> link_ceilings(const DeviceInfo& device) {
  std::vector<Ceiling> roofs;
  for (std::optional<Ceiling>& roof : std::array{host_link(device), peer_link(device)})
    if (roof && (roofs.empty() || roofs.front().name != roof->name))
      roofs.push_back(std::move(*roof));
  return roofs;
}

void fill_link_roofs(Report& report) {
  const auto device_of = [&report](std::int32_t id) -> const DeviceInfo* {
    const auto found = std::find_if(report.devices.begin(), report.devices.end(),
                                    [&](const DeviceInfo& each) { return each.id == id; });
    return found == report.devices.end() ? nullptr : &*found;
  };
  for (CopyRow& copy : report.copies) {
    copy.roof = {};
    const DeviceInfo* device = device_of(copy.device);
    if (device == nullptr) continue;
    if (copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host)
      copy.roof = use_of(host_roof(report, *device, copy.kind), copy.bytes_per_s());
    if (copy.kind == CopyKind::peer)
      copy.roof = use_of(peer_roof(report, *device), copy.bytes_per_s());
  }
  for (KernelRow& kernel : report.kernels) {
    if (!kernel.collective) continue;
    CollectiveRow& collective = *kernel.collective;
    collective.roof = {};
    collective.bus_bytes_per_s.reset();
    const Maybe time = exchange_time(kernel);
    if (collective.bus_bytes && time && *time > 0)
      collective.bus_bytes_per_s = *collective.bus_bytes / *time * kNsPerSecond;
    const DeviceInfo* device = device_of(kernel.device);
    if (device != nullptr && collective.one_node)
      collective.roof = use_of(peer_roof(report, *device), collective.bus_bytes_per_s);
  }
  sum_collectives(report);
}

Maybe exchange_time(const KernelRow& kernel) {
  return kernel.collective && kernel.collective->transfer_ns ? kernel.collective->transfer_ns
                                                             : kernel.time_mean_ns;
}

}  // namespace gable
