// SPDX-License-Identifier: Apache-2.0
// How `gable window PID` reaches a program that runs: a listening socket without a file, named by
// the process id, that only its user and root are answered on. One line asks, one line answers.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gable {

class RequestSocket {
 public:
  RequestSocket() = default;
  RequestSocket(const RequestSocket&) = delete;
  RequestSocket& operator=(const RequestSocket&) = delete;

  void open();                           // on failure nobody can ask
  [[nodiscard]] int descriptor() const;  // for poll(); -1: not open
  // Serves one client: `answer` gets its line, which is awaited for a bounded time.
  void serve(const std::function<std::string(const std::string&)>& answer);
  // Closes the parent's socket in a forked child.
  static void close_in_child();
};

// The asking side. `problem`: why there is no answer.
struct RequestAnswer {
  std::string line, problem;
};
[[nodiscard]] RequestAnswer ask_process(int pid, const std::string& line);

}  // namespace gable
