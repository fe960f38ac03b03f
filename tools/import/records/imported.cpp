// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/imported.h"

#include <algorithm>

#include <type_traits>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::uint64_t hash_of(const LaunchShape& shape) {
  std::uint64_t hash = shape.dynamic_shared;
  for (const Dim3* size : {&shape.grid, &shape.block, &shape.cluster}) {
    for (const std::uint32_t part : {size->x, size->y, size->z})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  }
  return hash;
}

}  // namespace

std::uint32_t ShapeTable::intern(const LaunchShape& shape) {
  const std::uint64_t hash = hash_of(shape);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    if (shapes_[found->second] == shape) return found->second;
  }
  const auto index = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(shape);
  by_hash_.emplace(hash, index);
  return index;
}

std::uint32_t name_message(Imported& imported, FunctionId function, std::uint32_t process,
                           std::uint32_t stream) {
  const auto [known, fresh] = imported.exchanges.try_emplace(function, false);
  if (fresh) known->second = is_collective(imported.functions.name(function));
  if (!known->second) return 0;
  ImportedMessage& message = imported.messages.emplace_back();
  message.kind = collective_named(imported.functions.name(function));
  message.told = false;
  message.process = process;
  message.stream = stream;
  return static_cast<std::uint32_t>(imported.messages.size());
}

void ImportedKernels::add_at(const ImportedKernel& kernel) {
  if (kernel.function >= known_.size()) known_.resize(kernel.function + std::size_t{1});
  if (!known_[kernel.function]) {
    known_[kernel.function] = true;
    functions_.insert(kernel.function);
  }
  devices_.insert(kernel.device);
  last_step_ = std::max(last_step_, kernel.step);
  records_.add(kernel);
}

LaunchKey launch_key(const Imported& imported, const ImportedKernel& kernel) {
  const LaunchShape& shape = imported.shapes[kernel.shape];
  return {kernel.layer, kernel.function, kernel.device,       shape.grid,
          shape.block,  shape.cluster,   shape.dynamic_shared};
}

void add_device(const DeviceInfo& device, const std::string& file, Imported& imported) {
  const auto [place, fresh] = imported.devices.try_emplace(device.id, device);
  DeviceInfo& known = place->second;
  if (fresh) return;
  const bool other_chip =
      device.compute_major != 0 && known.compute_major != 0 &&
      (device.compute_major != known.compute_major || device.compute_minor != known.compute_minor);
  const bool other_name = !device.name.empty() && !known.name.empty() && device.name != known.name;
  if (other_chip || other_name) {
    const auto shown = [](const DeviceInfo& each) {
      return (each.name.empty() ? "a GPU" : quoted_piece(each.name)) + " of compute capability " +
             std::to_string(each.compute_major) + "." + std::to_string(each.compute_minor);
    };
    throw WrongUse(file + ": device " + std::to_string(device.id) + " is " + shown(device) +
                   ", and elsewhere in these files " + shown(known) +
                   ": these are runs on different GPUs; import each by itself.");
  }
  const auto take = [](auto& to, const auto& from) {
    if (to == std::decay_t<decltype(to)>{}) to = from;
  };
  take(known.name, device.name);
  take(known.chip, device.chip);
  take(known.compute_major, device.compute_major);
  take(known.compute_minor, device.compute_minor);
  take(known.sm_count, device.sm_count);
  take(known.sm_clock_max_hz, device.sm_clock_max_hz);
  take(known.memory_clock_max_hz, device.memory_clock_max_hz);
  take(known.memory_bus_bits, device.memory_bus_bits);
  take(known.memory_bytes, device.memory_bytes);
  take(known.l2_bytes, device.l2_bytes);
}

}  // namespace gable
