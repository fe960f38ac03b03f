// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_python.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tools/base/wrong_use.h"
#include "tools/launch/launch.h"
#include "tools/launch/python_side.h"

namespace gable {
namespace {

// A file without a name, which the program that is started has open, too: nothing is left behind.
class Answer {
 public:
  Answer() : file_(memfd_create("gable-plan", 0)) {
    if (file_ < 0)
      throw WrongUse(std::string("No memory can be shared with Python: ") + std::strerror(errno) +
                     ".");
  }
  ~Answer() { close(file_); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  [[nodiscard]] std::string number() const { return std::to_string(file_); }
  [[nodiscard]] std::string read_all() const {
    std::string out;
    std::array<char, 1 << 16> piece{};
    for (off_t at = 0;;) {
      const ssize_t got = pread(file_, piece.data(), piece.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return out;
      out.append(piece.data(), static_cast<std::size_t>(got));
      at += got;
    }
  }

 private:
  int file_;
};

}  // namespace

PlanAnswer ask_python(const PlanRequest& request) {
  show_python_side("no model can be built");
  const Answer answer;
  const std::string python = request.python.empty() ? "python3" : request.python;
  std::vector<std::string> words = {python, "-m", "gable_profiler._plan",
                                    "--descriptor=" + answer.number()};
  for (const std::string& each : request.inputs) words.push_back("--input=" + each);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  add("--batch=", request.batches);
  add("--precision=", request.precision);
  add("--optimizer=", request.optimizer);
  add("--past=", request.past);
  if (request.train) words.emplace_back("--train");
  words.emplace_back("--");
  words.push_back(request.model);
  const Ended ended = run_program(words);
  if (!ended.not_started.empty())
    throw WrongUse(ended.not_started +
                   " A model needs a Python that has PyTorch: name one with "
                   "--python.");
  if (ended.exit_code != 0) {
    if (ended.exit_code != kExitWrongUse)
      say(python + " ended with " + std::to_string(ended.exit_code) +
          " before it had described the model.");
    return {ended.exit_code, {}};
  }
  return {0, answer.read_all()};
}

}  // namespace gable
