// SPDX-License-Identifier: Apache-2.0
// A folder of our own for what another program writes, gone at the end, on failure and on Ctrl-C.
#pragma once

#include <sys/types.h>

#include <string>

namespace gable {

// At most one at a time. While it is there, signals that end programs are passed on to the program
// that runs for it, and end this one when that has ended; where none runs the folder goes first.
class TemporaryFolder {
 public:
  // Throws WrongUse if no folder can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Sets the process group that gets the signals from now on; 0: none.
  static void set_running(pid_t group);
  [[nodiscard]] static bool was_signalled();
  // If a signal came while the program ran, removes the folder and lets the signal end this
  // program.
  void end_if_signalled();

 private:
  std::string path_;
};

}  // namespace gable
