// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gable {
namespace {

// The signals that are waited for while the program runs; blocked here, as they were before in the
// program.
class WatchedSignals {
 public:
  WatchedSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE,
                             SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGCHLD}) {
      sigaddset(&set_, number);
    }
    sigprocmask(SIG_BLOCK, &set_, &before_);
    struct sigaction usual {};  // an inherited "ignore" would take the exit status away
    sigaction(SIGCHLD, &usual, &child_before_);
  }
  ~WatchedSignals() { restore(); }
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;

  void restore() const {
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  // The next of them; of no signal where one that is not waited for came.
  [[nodiscard]] siginfo_t wait() const {
    siginfo_t info{};
    sigwaitinfo(&set_, &info);
    return info;
  }
  // Those that came while the program ended were for it: they would end this process once they are
  // no longer blocked.
  void drop() const {
    const timespec at_once{};
    while (sigtimedwait(&set_, nullptr, &at_once) > 0) {
    }
  }

 private:
  sigset_t set_{}, before_{};
  struct sigaction child_before_ {};
};

[[noreturn]] void become(const std::vector<std::string>& program, const WatchedSignals& signals,
                         int report_to) {
  std::vector<char*> arguments;
  for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  signals.restore();
  execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report_to, &reason, sizeof reason);
  _exit(kExitNotFound);
}

int wait_for(pid_t child, const WatchedSignals& signals) {
  for (;;) {
    int status = 0;
    const pid_t answer = waitpid(child, &status, WNOHANG);
    if (answer < 0) return 0;
    if (answer == child) {
      signals.drop();
      return status;
    }
    const siginfo_t signal = signals.wait();
    if (signal.si_signo == SIGCHLD) continue;
    // The terminal's own go to the whole foreground group: the program has them already.
    const bool of_terminal = signal.si_code == SI_KERNEL && signal.si_signo != SIGALRM;
    const bool of_ours = signal.si_pid == child || signal.si_pid == getpid();
    if (!of_terminal && !of_ours) kill(child, signal.si_signo);
  }
}

Ended did_not_start(const std::string& name, int reason) {
  Ended ended;
  if (reason == ENOENT) {
    ended.exit_code = kExitNotFound;
    ended.not_started = "The program '" + name + "' was not found" +
                        (name.find('/') == std::string::npos ? " in PATH." : ".");
  } else {
    ended.exit_code = kExitNotExecutable;
    ended.not_started = "The program '" + name + "' cannot be run: " + std::strerror(reason) + ".";
  }
  return ended;
}

}  // namespace

Ended run_program(const std::vector<std::string>& program) {
  // Closed by a successful exec; carries errno of a failed one.
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return did_not_start(program.front(), errno);
  const WatchedSignals signals;
  const pid_t child = fork();
  if (child == 0) become(program, signals, channel[1]);
  const int fork_reason = errno;
  close(channel[1]);
  if (child < 0) {
    close(channel[0]);
    return did_not_start(program.front(), fork_reason);
  }
  int reason = 0;  // stays where the program began
  // Nothing interrupts it: no signal that has a handler here.
  [[maybe_unused]] const ssize_t count = read(channel[0], &reason, sizeof reason);
  close(channel[0]);
  const int status = wait_for(child, signals);
  ::signal(SIGXFSZ, SIG_IGN);  // of our own writes from now on
  if (reason != 0) return did_not_start(program.front(), reason);

  Ended ended;
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
    ended.exit_code = 128 + ended.signal;
  } else {
    ended.exit_code = WEXITSTATUS(status);
  }
  return ended;
}

}  // namespace gable
