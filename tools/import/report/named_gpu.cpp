// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/named_gpu.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::string capability(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// Marks of AMD's libraries and compiler in the names of kernels.
bool is_kernel_of_amd(std::string_view name) {
  return name.starts_with("Cijk_") || name.starts_with("__amd_rocclr_") || name.ends_with(".kd") ||
         name.starts_with("miopen") || name.starts_with("MIOpen") ||
         name.find("rocblas_") != std::string_view::npos ||
         name.find("ck_tile::") != std::string_view::npos;
}

void check(const GpuSpec& gpu, bool described, const DeviceInfo& device) {
  const std::string named(gpu.name), id = std::to_string(device.id);
  const bool known = device.compute_major != 0 && gpu.compute_major != 0;
  const bool other_chip = known && (device.compute_major != gpu.compute_major ||
                                    device.compute_minor != gpu.compute_minor);
  const bool other_size =
      device.sm_count > 0 && gpu.sm_count > 0 && device.sm_count != gpu.sm_count;
  DeviceInfo nameless = device;
  nameless.name.clear();
  const bool fits = described ? !other_size && !is_foreign_gpu(device.name)
                              : could_be(gpu, nameless) && could_be(gpu, device);
  if (fits) return;
  if (!device.name.empty())
    throw WrongUse("Device " + id + " is " + quoted_piece(device.name) +
                   " in the files, which is not the board " + named +
                   " that --gpu names: leave --gpu out.");
  if (other_chip)
    throw WrongUse("Device " + id + " has compute capability " +
                   capability(device.compute_major, device.compute_minor) + " in the files, and " +
                   named + ", which --gpu names, has " +
                   capability(gpu.compute_major, gpu.compute_minor) +
                   ": name the GPU that they were recorded on, or leave --gpu out.");
  throw WrongUse("Device " + id + " has " +
                 (other_size ? std::to_string(device.sm_count) + " SMs"
                             : std::string("another size or bandwidth of memory")) +
                 " in the files, and " + named + ", which --gpu names, has " +
                 (other_size ? std::to_string(gpu.sm_count) : std::string("not")) +
                 ": name the GPU that they were recorded on, or leave --gpu out.");
}

}  // namespace

void leave_out_foreign_gpus(Imported& imported) {
  std::string names;
  bool nameless = false;
  for (const auto& [id, device] : imported.devices) {
    if (is_foreign_gpu(device.name) && names.find(device.name) == std::string::npos)
      names += (names.empty() ? "" : ", ") + quoted_piece(device.name);
    nameless = nameless || device.name.empty();
  }
  if (names.empty() && (nameless || imported.devices.empty())) {
    const auto& functions = imported.kernels.functions();
    const bool amd = std::any_of(functions.begin(), functions.end(), [&](FunctionId function) {
      return is_kernel_of_amd(imported.functions.name(function));
    });
    if (amd) names = "AMD, by the names of its kernels";
  }
  if (names.empty()) return;
  const bool all = names.starts_with("AMD, by");
  for (auto& [id, device] : imported.devices) {
    if (!is_foreign_gpu(device.name) && !(all && device.name.empty())) continue;
    // Its numbers mean NVIDIA's chips elsewhere: 9.0 is a gfx90a here and a Hopper there.
    device.compute_major = device.compute_minor = 0;
    device.memory_clock_max_hz = 0;
    device.memory_bus_bits = 0;
    if (device.name.empty()) device.name = "AMD GPU";
    std::erase_if(imported.stated, [of = id](const Ceiling& each) { return each.device == of; });
  }
  for (const std::int32_t id : imported.kernels.devices()) {
    DeviceInfo& device = imported.devices[id];
    device.id = id;
    if (all && device.name.empty()) device.name = "AMD GPU";
  }
  imported.has_foreign_gpu = true;
  imported.notes.push_back(
      "The GPU is not one of NVIDIA's (" + names +
      "): Gable knows no roofs, bounds or savings for it; times and layers are "
      "what the files say.");
}

void name_gpu(const GpuSpec& gpu, bool described, Imported& imported) {
  // A file need not say anything of the devices that its kernels ran on.
  for (const std::int32_t id : imported.kernels.devices()) imported.devices[id].id = id;
  for (const auto& launch : imported.counters) imported.devices[launch.device].id = launch.device;
  bool needed = false;
  for (auto& [id, device] : imported.devices) {
    check(gpu, described, device);
    if (!device.name.empty() && !described && gpu_of_device(device) != nullptr) continue;
    needed = true;
    // As the driver has it: chips have rates by their boards' names.
    if (device.name.empty() && !described)
      device.name = gpu.boards.empty() ? "NVIDIA " + gpu.name
                                       : std::string(gpu.boards.substr(0, gpu.boards.find('|')));
  }
  if (!needed) return;  // the files name that very board
  const std::string name(gpu.name);
  for (const auto& [id, device] : imported.devices) {
    std::vector<Ceiling> ceilings = ceilings_of(gpu, id), links = link_ceilings_of(gpu, id);
    ceilings.insert(ceilings.end(), links.begin(), links.end());
    for (Ceiling& ceiling : ceilings) {
      ceiling.source += described ? ": peak of the " + name + " that the user described"
                                  : ": published peak of the " + name + " that the user named";
      imported.stated.push_back(std::move(ceiling));
    }
  }
  imported.gpu_is_named = true;
  imported.notes.push_back(
      "The user " + std::string(described ? "described" : "named") +
      " the GPU with --gpu: " + name + ". Roofs that the files do not give are its " +
      (described ? "" : "published ") + "peaks (" + std::string(gpu.source) + ").");
}

}  // namespace gable
