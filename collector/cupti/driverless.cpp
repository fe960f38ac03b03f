// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/driverless.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace gable {
namespace {

constexpr unsigned kPatienceSeconds = 5;

// Its end is nobody's business: no core file, no handler of the parent's.
void make_mortal(unsigned patience_seconds) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  constexpr std::array kEnds = {SIGSEGV, SIGBUS, SIGABRT, SIGALRM};
  for (const int number : kEnds) signal(number, SIG_DFL);
  alarm(patience_seconds);
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto done = ::write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

Elsewhere ask_here(const std::function<int(const Tell&)>& question) {
  Elsewhere end;
  end.code = question([&end](std::string_view text) { end.told += text; });
  return end;
}

[[noreturn]] void be_child(const std::function<int(const Tell&)>& question, int file,
                           unsigned patience_seconds) {
  make_mortal(patience_seconds);
  const int code = question([file, patience_seconds](std::string_view text) {
    alarm(patience_seconds);
    write_all(file, text);
  });
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

Elsewhere ask_elsewhere(const std::function<int(const Tell&)>& question,
                        unsigned patience_seconds) {
  std::fflush(nullptr);  // else the child prints it once more
  int ends[2];
  if (pipe(ends) != 0) return ask_here(question);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return ask_here(question);
  }
  if (child == 0) {
    close(ends[0]);
    be_child(question, ends[1], patience_seconds);
  }
  close(ends[1]);
  Elsewhere end;
  std::array<char, 4096> some{};
  for (;;) {
    const auto got = ::read(ends[0], some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    end.told.append(some.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

bool survives_without_driver(CUptiResult (*get_version)(std::uint32_t*)) {
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); driver != nullptr) {
    dlclose(driver);
    return true;
  }
  const pid_t child = fork();
  if (child < 0) return true;  // not known; hardly ever
  if (child == 0) {
    make_mortal(kPatienceSeconds);
    std::uint32_t version = 0;
    static_cast<void>(get_version(&version));
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return true;
  return !WIFSIGNALED(status);
}

}  // namespace gable
