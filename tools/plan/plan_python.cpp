// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_python.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tools/base/wrong_use.h"
#include "tools/launch/install.h"
#include "tools/launch/launch.h"

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

// Modules of the Python side, before those of the user.
void show_python_side() {
  const std::string startup = python_startup_folder();
  if (startup.empty())
    throw WrongUse(
        "Gable's Python side is not complete beside this program, so no model can be built: build "
        "it with cmake --build BUILD --target gable_python, or install Gable again.");
  const std::string folder = std::filesystem::path(startup).parent_path().string();
  const char* before = std::getenv("PYTHONPATH");  // NOLINT(concurrency-mt-unsafe)
  const std::string all =
      before == nullptr || *before == '\0' ? folder : folder + ":" + std::string(before);
  setenv("PYTHONPATH", all.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

PlanAnswer ask_python(const PlanRequest& request) {
  show_python_side();
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
