// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/prove/place.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace gable::prove {
namespace {

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string kind() {
  std::string version = content("/proc/version");
  std::transform(version.begin(), version.end(), version.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // gVisor names itself in newer releases; older ones give this date on every machine.
  if (has(version, "gvisor") || has(version, "sun jan 10 15:06:54 pst 2016")) return "gVisor";
  // The maker of the tables that a machine's firmware brings along.
  for (const char* table : {"/sys/firmware/acpi/tables/FACP", "/sys/firmware/acpi/tables/DSDT"}) {
    if (has(content(table), "FIRECK")) return "Firecracker";
  }
  std::error_code ignored;
  const bool container = std::filesystem::exists("/.dockerenv", ignored) ||
                         std::filesystem::exists("/run/.containerenv", ignored) ||
                         has(content("/proc/1/cgroup"), "docker") ||
                         has(content("/proc/1/cgroup"), "kubepods");
  std::string vendor = content("/sys/class/dmi/id/sys_vendor");
  vendor.erase(vendor.find_last_not_of(" \n") + 1);
  const bool cpu_is_virtual = has(content("/proc/cpuinfo"), " hypervisor");
  if (cpu_is_virtual && vendor.empty() && has(content("/proc/cmdline"), "pci=off"))
    return "Firecracker";
  std::string name = cpu_is_virtual ? "a virtual machine" : "the machine itself";
  if (cpu_is_virtual && !vendor.empty()) name += " (" + vendor + ")";
  return container ? "a container in " + name : name;
}

}  // namespace

std::string place_name() {
  utsname system{};
  const std::string release = uname(&system) == 0 ? system.release : "unknown";
  return kind() + ", Linux " + release;
}

}  // namespace gable::prove
