// SPDX-License-Identifier: Apache-2.0
#include "tools/import/convert/own_tools.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "analysis/base/display.h"
#include "tools/base/wrong_use.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace gable {
namespace {

constexpr std::size_t kMostSaid = 1u << 16;

bool is_program(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_regular_file(path, code) && access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> found_by(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  // The newest of several versions.
  std::reverse(paths.begin(), paths.end());
  return paths;
}

const char* name_of(Exporter exporter) { return exporter == Exporter::nsys ? "nsys" : "ncu"; }

// A report that begins with a dash is no option of the program.
std::string plain_path(const std::string& path) {
  return path.starts_with("-") ? "./" + path : path;
}

bool starts_like_error(std::string_view line) {
  std::string low(line.substr(0, 40));
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"error", "fail", "fatal", "cannot", "unable", "could not", "invalid"})
    if (low.find(word) != std::string::npos) return true;
  return false;
}

// The line that says why: the first that looks like an error, else the last.
std::string reason_in(const std::string& said) {
  std::string first, last;
  std::size_t at = 0;
  while (at < said.size()) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    std::string line = one_line(said.substr(at, end - at));
    at = end + 1;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0)
      line.erase(0, 1);
    while (!line.empty() &&
           (std::isspace(static_cast<unsigned char>(line.back())) != 0 || line.back() == '.'))
      line.pop_back();
    if (line.empty()) continue;
    if (first.empty() && starts_like_error(line)) first = line;
    last = line;
  }
  return quoted_piece(first.empty() ? last : first);
}

std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostSaid, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

struct Spawn {
  Spawn() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t how{};
};

// Its exit status as waitpid gives it. The program is in a process group of its own, so that what
// it starts gets signals with it. There is no limit of time: large reports take long.
int run(const std::string& program, std::vector<std::string> arguments, const std::string& out,
        const std::string& errors, TemporaryFolder& folder) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Spawn spawn;
  constexpr int kWrite = O_WRONLY | O_CREAT | O_APPEND;
  posix_spawn_file_actions_addopen(&spawn.files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&spawn.files, 1, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&spawn.files, 2, errors.c_str(), kWrite, 0600);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) sigaddset(&defaults, number);
  posix_spawnattr_setsigdefault(&spawn.how, &defaults);
  posix_spawnattr_setpgroup(&spawn.how, 0);
  // A signal between the start and the line that says who runs would end this program alone.
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &defaults, &before);
  posix_spawnattr_setsigmask(&spawn.how, &before);
  posix_spawnattr_setflags(&spawn.how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  // Numbers with a point, whatever the user's language.
  std::string plain_locale = "LC_ALL=C";
  std::vector<char*> environment = {plain_locale.data()};
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with("LC_ALL=")) environment.push_back(*each);
  environment.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &spawn.files, &spawn.how, argv.data(),
                                environment.data());
  if (error == 0) TemporaryFolder::set_running(child);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    throw WrongUse(program + " cannot be run: " + std::string(std::strerror(error)) + ".");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  TemporaryFolder::set_running(0);
  // What a shell starts in the background does not get SIGINT.
  if (TemporaryFolder::was_signalled()) (void)kill(-child, SIGKILL);
  folder.end_if_signalled();
  return status;
}

}  // namespace

std::string find_exporter(Exporter exporter, const std::string& root) {
  const std::string name = name_of(exporter);
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    const std::string_view all = path;
    std::size_t at = 0;
    while (at < all.size()) {
      const std::size_t end = std::min(all.find(':', at), all.size());
      // A place that is relative to wherever one is would be anybody's program.
      const std::string place(all.substr(at, end - at));
      at = end + 1;
      if (place.starts_with("/") && is_program(place + "/" + name)) return place + "/" + name;
    }
  }
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home == '/') {
    const std::string program = std::string(home) + "/bin/" + name;
    if (is_program(program)) return program;
  }
  static constexpr const char* kNsys[] = {"/usr/local/cuda/bin/nsys", "/usr/local/cuda-*/bin/nsys",
                                          "/opt/nvidia/nsight-systems*/bin/nsys",
                                          "/opt/nvidia/nsight-systems*/*/bin/nsys",
                                          "/opt/nvidia/nsight-systems*/*/target-linux-*/nsys"};
  static constexpr const char* kNcu[] = {"/usr/local/cuda/bin/ncu", "/usr/local/cuda-*/bin/ncu",
                                         "/opt/nvidia/nsight-compute*/ncu",
                                         "/opt/nvidia/nsight-compute*/*/ncu"};
  const bool nsys = exporter == Exporter::nsys;
  const std::vector<const char*> patterns =
      nsys ? std::vector<const char*>(std::begin(kNsys), std::end(kNsys))
           : std::vector<const char*>(std::begin(kNcu), std::end(kNcu));
  for (const char* pattern : patterns)
    for (const std::string& path : found_by(root + pattern))
      if (is_program(path)) return path;
  return {};
}

std::string export_report(Exporter exporter, const std::string& program, const std::string& report,
                          TemporaryFolder& folder) {
  const bool nsys = exporter == Exporter::nsys;
  const std::string said = folder.path() + "/said";
  const std::string made = folder.path() + (nsys ? "/export.sqlite" : "/export.csv");
  const std::string path = plain_path(report);
  std::vector<std::string> arguments =
      nsys ? std::vector<std::string>{program, "export", "--type", "sqlite", "-o", made, path}
           : std::vector<std::string>{program, "--import",      path,  "--csv", "--page",
                                      "raw",   "--print-units", "base"};
  const int status = run(program, std::move(arguments), nsys ? said : made, said, folder);
  std::error_code code;
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (good && std::filesystem::file_size(made, code) > 0 && !code) return made;
  std::string why = reason_in(head_of(said));
  if (why.empty() && !nsys) why = reason_in(head_of(made));
  if (why.empty())
    why = good                  ? "it wrote nothing"
          : WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) + " ended it"
                                : "it ended with " + std::to_string(WEXITSTATUS(status));
  throw WrongUse(report + " could not be exported by " + name_of(exporter) + ": " + why + ".");
}

}  // namespace gable
