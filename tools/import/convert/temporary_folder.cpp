// SPDX-License-Identifier: Apache-2.0
#include "tools/import/convert/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<pid_t> g_group{0};
std::atomic<int> g_signal{0};
std::array<struct sigaction, kSignals.size()> g_before{};
// For the handler, which may not allocate: the files that a folder can have.
std::array<std::array<char, 4096>, 4> g_files{};
std::array<char, 4096> g_folder{};

void restore() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

void handle(int number) {
  const int error = errno;
  const pid_t group = g_group.load();
  if (group > 0) {
    // Who asks twice means it.
    (void)kill(-group, g_signal.exchange(number) == 0 ? number : SIGKILL);
  } else {
    for (const auto& file : g_files)
      if (file[0] != '\0') (void)unlink(file.data());
    if (g_folder[0] != '\0') (void)rmdir(g_folder.data());
    restore();
    (void)raise(number);
  }
  errno = error;
}

void take_signals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    // What was ignored, as under nohup, stays so.
    if (g_before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = &handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, nullptr);
  }
}

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& text) {
  if (text.size() < N) std::memcpy(to.data(), text.c_str(), text.size() + 1);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code code;
  std::string base = std::filesystem::temp_directory_path(code).string();
  if (code) base = "/tmp";
  std::string name = base + "/gable-import-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw WrongUse("There is no place for an export in " + base + " (" +
                   std::string(std::strerror(errno)) + "): TMPDIR names another folder.");
  path_ = name;
  g_group = 0;
  g_signal = 0;
  put(g_folder, path_);
  const char* const files[] = {"/export.sqlite", "/export.sqlite-journal", "/export.csv", "/said"};
  for (std::size_t i = 0; i < g_files.size(); ++i) put(g_files[i], path_ + files[i]);
  take_signals();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  std::filesystem::remove_all(path_, code);
  g_folder[0] = '\0';
  for (auto& file : g_files) file[0] = '\0';
  restore();
}

void TemporaryFolder::set_running(pid_t group) { g_group = group; }

bool TemporaryFolder::was_signalled() { return g_signal.load() != 0; }

void TemporaryFolder::end_if_signalled() {
  const int number = g_signal.load();
  if (number == 0) return;
  std::error_code code;
  std::filesystem::remove_all(path_, code);
  restore();
  (void)raise(number);
}

}  // namespace gable
