// SPDX-License-Identifier: Apache-2.0
// gable window: a further queue in a program that runs under Gable.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

#include "collector/options/request_socket.h"
#include "tools/commands/command.h"

namespace gable {
namespace {

constexpr int kExitRefused = 1;
constexpr int kLargestPid = 1 << 22;  // Linux gives no larger ones

// A terminal obeys more than letters, and the answer is another process's.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return text;
}

class WindowCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("PID", pid_)->required();
    app.add_option("--steps", steps_);
  }

  int run() override {
    if (pid_ <= 0 || pid_ > kLargestPid)
      throw WrongUse("PID is the number of a process, such as 4711.");
    if (steps_ && *steps_ == 0) throw WrongUse("--steps takes a number of at least 1.");
    const auto answer = ask_process(pid_, "window " + std::to_string(steps_.value_or(0)));
    if (!answer.problem.empty()) {
      throw WrongUse("Process " + std::to_string(pid_) + " cannot be asked (" + answer.problem +
                     "): it must run under Gable, have begun to use CUDA, and be your own, on this "
                     "machine and in this container.");
    }
    const auto line = printable(answer.line);
    if (line.starts_with('+')) {
      std::printf("%s\n", line.c_str() + 1);
      return kExitGood;
    }
    say("Process " + std::to_string(pid_) + ": " + (line.empty() ? line : line.substr(1)));
    return kExitRefused;
  }

 private:
  int pid_ = 0;
  std::optional<std::uint32_t> steps_;
};

}  // namespace

std::unique_ptr<Command> make_window_command() { return std::make_unique<WindowCommand>(); }

}  // namespace gable
