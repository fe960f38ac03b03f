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

struct TakenSignal {
  int number;
  struct sigaction before {};
};
auto g_signals = std::to_array<TakenSignal>({{SIGINT}, {SIGTERM}, {SIGHUP}, {SIGQUIT}});

std::atomic<pid_t> g_group;
std::atomic<int> g_signal;
// For the handler, which may not allocate: the files that a folder can have.
struct OwnFile {
  const char* name;
  std::array<char, 4096> path{};
};
auto g_files = std::to_array<OwnFile>(
    {{"/export.sqlite"}, {"/export.sqlite-journal"}, {"/export.csv"}, {"/said"}});
std::array<char, 4096> g_folder{};

void restore() {
  for (const TakenSignal& each : g_signals) sigaction(each.number, &each.before, nullptr);
}

void handle(int number) {
  const int error = errno;
  const pid_t group = g_group.load();
  if (group > 1) {  // kill(-1) would be meant for all there are
    // Who asks twice means it.
    (void)kill(-group, g_signal.exchange(number) == 0 ? number : SIGKILL);
  } else {
    for (const OwnFile& file : g_files) (void)unlink(file.path.data());
    (void)rmdir(g_folder.data());
    restore();
    (void)raise(number);
  }
  errno = error;
}

void take_signals() {
  for (TakenSignal& each : g_signals) {
    sigaction(each.number, nullptr, &each.before);
    // What was ignored, as under nohup, stays so.
    if (each.before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = &handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(each.number, &action, nullptr);
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
                   std::string(std::strerror(errno)) + "): set TMPDIR to another folder.");
  path_ = name;
  g_signal = {};
  put(g_folder, path_);
  for (OwnFile& file : g_files) put(file.path, path_ + file.name);
  take_signals();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  std::filesystem::remove_all(path_, code);
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
