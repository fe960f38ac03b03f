// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_rights.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "tools/doctor/proc_file.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

constexpr int kSysAdmin = 21, kPerfmon = 38;  // of capabilities(7)
constexpr int kDriverWithPerfmon = 565;
constexpr const char* kPage = "; docs/administrators.md says how.";

// What stands behind `label` in its line; empty where there is none.
std::string value_behind(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(label, 0) != 0) continue;
    const auto start = line.find_first_not_of(" \t", label.size());
    return start == line.npos ? std::string() : line.substr(start);
  }
  return {};
}

bool has_capability(const fs::path& root, int number) {
  const auto held = value_behind(proc_file(root / "proc/self/status"), "CapEff:");
  return (std::strtoull(held.c_str(), nullptr, 16) >> number & 1) != 0;
}

// 0 where it is not known.
int driver_branch(const fs::path& root) {
  const auto text = proc_file(root / "proc/driver/nvidia/version");
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …"
  for (std::size_t at = text.find("Kernel Module"); at < text.size(); ++at)
    if (std::isdigit(static_cast<unsigned char>(text[at])) != 0 && text[at - 1] == ' ')
      return std::atoi(text.c_str() + at);
  return 0;
}

std::string what_to_do(const Surroundings& where, int branch) {
  const fs::path root = where.root;
  const std::string host =
      "or have the host load the driver with NVreg_RestrictProfilingToAdminUsers=0";
  const std::string capability =
      branch >= kDriverWithPerfmon ? "PERFMON or SYS_ADMIN" : "SYS_ADMIN";
  std::error_code code;
  if (!where.variable("KUBERNETES_SERVICE_HOST").empty())
    return "In this pod, add " + capability + " to securityContext.capabilities, " + host + kPage;
  if (!where.variable("APPTAINER_CONTAINER").empty() ||
      !where.variable("SINGULARITY_CONTAINER").empty())
    return "A container of Apptainer has the rights of its user: have the host load the driver "
           "with NVreg_RestrictProfilingToAdminUsers=0" +
           std::string(kPage);
  if (fs::exists(root / ".dockerenv", code) || fs::exists(root / "run/.containerenv", code))
    return "Start this container with --cap-add=SYS_ADMIN" +
           std::string(branch >= kDriverWithPerfmon ? " or --cap-add=PERFMON" : "") + ", " + host +
           kPage;
  return "Run as root, or have the driver loaded with NVreg_RestrictProfilingToAdminUsers=0" +
         std::string(kPage);
}

std::optional<Finding> rights(const Surroundings& where) {
  const fs::path root = where.root;
  const auto reserved =
      value_behind(proc_file(root / "proc/driver/nvidia/params"), "RmProfilingAdminOnly:");
  if (reserved.empty()) return std::nullopt;
  if (reserved == "0") return Finding{"rights", State::ready, "Counters are open to every user."};
  const std::string told = "Counters are reserved for the administrator";
  const int branch = driver_branch(root);
  if (has_capability(root, kSysAdmin))
    return Finding{"rights", State::ready, told + ", and this user has CAP_SYS_ADMIN."};
  if (has_capability(root, kPerfmon) && branch >= kDriverWithPerfmon)
    return Finding{"rights", State::ready,
                   told + ", and this user has CAP_PERFMON, which is enough from driver " +
                       std::to_string(kDriverWithPerfmon) + " on."};
  return Finding{"rights", State::limited,
                 told + " (RmProfilingAdminOnly is " + reserved +
                     " in "
                     "/proc/driver/nvidia/params). " +
                     what_to_do(where, branch)};
}

std::optional<Finding> mig(const Surroundings& where) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"})
    if (where.variable(name).rfind("MIG-", 0) == 0)
      return Finding{
          "MIG", State::ready,
          std::string(name) +
              " names a part of a GPU. Its counters can be taken where one compute instance has "
              "its whole GPU instance; one that shares it has times, and no counters of what is "
              "shared."};
  return std::nullopt;
}

bool runs_mps(const fs::path& root) {
  std::error_code code;
  for (fs::directory_iterator process(root / "proc", code), end; !code && process != end;
       process.increment(code)) {
    const auto name = process->path().filename().string();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (proc_file(process->path() / "comm").rfind("nvidia-cuda-mps", 0) == 0) return true;
  }
  return false;
}

std::optional<Finding> mps(const Surroundings& where) {
  const bool named = !where.variable("CUDA_MPS_PIPE_DIRECTORY").empty();
  if (!named && !runs_mps(where.root)) return std::nullopt;
  return Finding{"MPS", State::limited,
                 std::string(named ? "CUDA_MPS_PIPE_DIRECTORY is set" : "MPS runs here") +
                     ": CUPTI takes no counters of programs that share a GPU by MPS. Run "
                     "the program without MPS (`echo quit | nvidia-cuda-mps-control` by its "
                     "owner, once nobody uses it)."};
}

}  // namespace

Surroundings Surroundings::here() {
  return {"/", [](const char* name) {
            const char* value = std::getenv(name);
            return std::string(value == nullptr ? "" : value);
          }};
}

std::vector<Finding> examine_rights(const Surroundings& where) {
  std::vector<Finding> found;
  for (const auto& one : {rights(where), mig(where), mps(where)})
    if (one) found.push_back(*one);
  return found;
}

bool is_virtual_gpu(const std::string& name) {
  const auto dash = name.rfind('-');
  if (dash == name.npos || name.size() < dash + 3) return false;
  const std::string profile = name.substr(dash + 1);
  return std::string("ABCQ").find(profile.back()) != std::string::npos &&
         profile.find_first_not_of("0123456789") == profile.size() - 1;
}

}  // namespace gable
