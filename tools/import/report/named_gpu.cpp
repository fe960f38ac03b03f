// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/named_gpu.h"

#include <string>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::string capability(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

void check(const GpuSpec& gpu, const DeviceInfo& device) {
  const std::string named(gpu.name), id = std::to_string(device.id);
  if (!device.name.empty() && gpu_of_device(device.name) != &gpu)
    throw WrongUse("Device " + id + " is " + quoted_piece(device.name) +
                   " in the files, which is not the board " + named +
                   " that --gpu names: leave --gpu out.");
  const bool known = device.compute_major != 0 && gpu.compute_major != 0;
  if (known &&
      (device.compute_major != gpu.compute_major || device.compute_minor != gpu.compute_minor))
    throw WrongUse("Device " + id + " has compute capability " +
                   capability(device.compute_major, device.compute_minor) + " in the files, and " +
                   named + ", which --gpu names, has " +
                   capability(gpu.compute_major, gpu.compute_minor) +
                   ": name the GPU that they were recorded on, or leave --gpu out.");
}

}  // namespace

void name_gpu(const GpuSpec& gpu, Imported& imported) {
  // A file need not say anything of the devices that its kernels ran on.
  for (const ImportedKernel& kernel : imported.kernels)
    imported.devices[kernel.device].id = kernel.device;
  for (const auto& launch : imported.counters) imported.devices[launch.device].id = launch.device;
  bool needed = false;
  for (auto& [id, device] : imported.devices) {
    check(gpu, device);
    if (!device.name.empty()) continue;
    // As the driver has it: chips have rates by their boards' names.
    device.name = gpu.boards.substr(0, gpu.boards.find('|'));
    needed = true;
  }
  if (!needed) return;  // the files name that very board
  const std::string name(gpu.name);
  for (const auto& [id, device] : imported.devices) {
    for (Ceiling& ceiling : ceilings_of(gpu, id)) {
      ceiling.source += ": published peak of the " + name + " that the user named";
      imported.stated.push_back(std::move(ceiling));
    }
  }
  imported.gpu_is_named = true;
  imported.notes.push_back("The user named the GPU with --gpu: " + name +
                           ". Roofs that the files do not give are its published peaks (" +
                           std::string(gpu.source) + ").");
}

}  // namespace gable
