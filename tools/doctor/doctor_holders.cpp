// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_holders.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/doctor/proc_file.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

struct KnownTool {
  std::string_view name;  // of the program
  const char* remedy;
};
constexpr const char* kPause =
    "DCGM takes counters: `dcgmi profile --pause` before, `dcgmi profile --resume` afterwards";
constexpr const char* kEnd = "a profiler of another run: let it end first";
constexpr KnownTool kTools[] = {
    {"nv-hostengine", kPause},
    {"dcgm-exporter", kPause},
    {"ncu", kEnd},
    {"ncu-ui", kEnd},
    {"nsys", kEnd},
    {"nv-nsight-cu-cli", kEnd},
    {"cuda-gdb", "a debugger: let it end first"},
    {"compute-sanitizer", "another tool that instruments kernels: let it end first"},
};

// The name of the program that the process was started as, without its folder.
std::string program_of(const fs::path& process) {
  const std::string command = proc_file(process / "cmdline");
  const std::string first = command.substr(0, command.find('\0'));
  return first.substr(first.rfind('/') + 1);
}

// The library that the process's environment asks to be injected; empty where it may not be read.
std::string injected_into(const fs::path& process) {
  constexpr std::string_view kVariable = "CUDA_INJECTION64_PATH=";
  const std::string environment = proc_file(process / "environ");
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = std::string_view(environment).substr(at, end - at);
    if (entry.starts_with(kVariable)) return std::string(entry.substr(kVariable.size()));
    at = end + 1;
  }
  return {};
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return a == b || fs::equivalent(a, b, code);
}

}  // namespace

std::vector<Holder> running_holders(const std::string& library, const std::string& proc) {
  std::vector<Holder> holders;
  std::error_code code;
  for (fs::directory_iterator process(proc, code), end; !code && process != end;
       process.increment(code)) {
    const std::string number = process->path().filename().string();
    Holder holder;
    const auto [stop, wrong] =
        std::from_chars(number.data(), number.data() + number.size(), holder.pid);
    if (wrong != std::errc() || stop != number.data() + number.size() || holder.pid == getpid())
      continue;
    holder.name = program_of(process->path());
    for (const KnownTool& tool : kTools) {
      if (holder.name == tool.name) holder.remedy = tool.remedy;
    }
    if (holder.remedy.empty()) {
      const std::string injected = injected_into(process->path());
      // Most processes only hand the variable on.
      if (!injected.empty() && !same_file(injected, library) &&
          proc_file(process->path() / "maps").find(injected) != std::string::npos)
        holder.remedy = injected + " is injected into it";
    }
    if (!holder.remedy.empty()) holders.push_back(std::move(holder));
  }
  std::sort(holders.begin(), holders.end(),
            [](const Holder& a, const Holder& b) { return a.pid < b.pid; });
  return holders;
}

std::string described(const std::vector<Holder>& holders) {
  std::string text;
  for (const Holder& holder : holders) {
    text += (text.empty() ? "" : "; ") + holder.name + " (process " + std::to_string(holder.pid) +
            "): " + holder.remedy;
  }
  return text;
}

}  // namespace gable
