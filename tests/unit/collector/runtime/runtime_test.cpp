// SPDX-License-Identifier: Apache-2.0
// What a process has of Gable begins with the options in its environment, and anew in a child.
#include "collector/runtime/runtime.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "collector/layers/thread_state.h"
#include "collector/options/request_socket.h"
#include "collector/process/loaded_objects.h"
#include "collector/runtime/torch_seen.h"
#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

// In a child, as there is one runtime a process. 0: all that it checks is so; else the line.
int in_child(const std::function<int()>& what) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(what());
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool says(const Runtime& rt, const std::string& part) {
  for (const auto& note : rt.notes.all())
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(Runtime, TakesItsOptionsFromTheEnvironment) {
  EXPECT_EQ(in_child([] {
              setenv("GABLE_OPTIONS", "--active 3", 1);
              restart_runtime_in_child();
              auto& rt = runtime();
              if (rt.settings.active != 3u) return 1;
              if (!rt.notes.all().empty()) return 2;
              if (&runtime() != &rt) return 3;
              return 0;
            }),
            0);
}

TEST(Runtime, WithoutOptionsThereAreTheDefaults) {
  EXPECT_EQ(in_child([] {
              unsetenv("GABLE_OPTIONS");
              restart_runtime_in_child();
              return runtime().settings.active || !runtime().notes.all().empty() ? 1 : 0;
            }),
            0);
}

TEST(Runtime, SaysWhichOptionIsWrong) {
  EXPECT_EQ(in_child([] {
              setenv("GABLE_OPTIONS", "--active 3 --wiat 2", 1);
              restart_runtime_in_child();
              if (runtime().settings.active) return 1;
              return says(runtime(), "--wiat") && says(runtime(), "GABLE_OPTIONS") ? 0 : 2;
            }),
            0);
}

TEST(Runtime, AChildBeginsAnew) {
  EXPECT_EQ(in_child([] {
              auto& before = runtime();
              const auto domain = before.ranges.domain("Arrays");
              before.hot.watching.store(true);
              before.hot.span_window.store(7);
              before.count_timeout();
              before.count_timeout(2);
              if (before.timeouts.load() != 3) return 1;
              auto* const thread = &this_thread();
              RequestSocket socket;
              socket.open();
              restart_runtime_in_child();
              if (socket.descriptor() != -1) return 2;
              if (before.hot.watching.load()) return 3;
              if (before.hot.span_window.load() != kNoWindow) return 4;
              auto& after = runtime();
              if (&after == &before) return 5;
              if (after.timeouts.load() != 0) return 6;
              if (after.ranges.domain_name(domain) != "Arrays") return 7;
              return &this_thread() != thread ? 0 : 8;
            }),
            0);
}

TEST(TorchSeen, CopiesHaveALayerOnceModulesAreFollowed) {
  Runtime rt({}, {});
  EXPECT_FALSE(modules_followed(rt));
  modules_are_followed(rt);
  EXPECT_TRUE(modules_followed(rt));
  EXPECT_EQ(rt.layers.shown(rt.hot.copies.load()), "copies");
}

// A library of that name, whatever it is.
class TorchLibrary {
 public:
  TorchLibrary() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&::getpid), &info) == 0) return;
    const auto beside = std::filesystem::path(info.dli_fname).parent_path() / "libutil.so.1";
    if (!std::filesystem::exists(beside)) return;
    const std::string library = folder_.at("libtorch_cpu.so");
    std::filesystem::copy_file(beside, library);
    handle_ = ::dlopen(library.c_str(), RTLD_NOW);
  }
  ~TorchLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  TorchLibrary(const TorchLibrary&) = delete;
  TorchLibrary& operator=(const TorchLibrary&) = delete;

 private:
  const tests::TemporaryFolder folder_;
  void* handle_ = nullptr;
};

TEST(TorchSeen, MissingModulesAreSpokenOfWherePyTorchRuns) {
  Runtime rt({}, {});
  note_missing_modules(rt);
  EXPECT_TRUE(rt.notes.all().empty()) << "no PyTorch here";
  const TorchLibrary library;
  if (!is_loaded("libtorch_cpu.so")) GTEST_SKIP() << "no library could be loaded under its name";
  note_missing_modules(rt);
  ASSERT_EQ(rt.notes.all().size(), 1u);
  modules_missing_because("it was too old.");
  Runtime later({}, {});
  note_missing_modules(later);
  EXPECT_TRUE(says(later, "it was too old."));
  Runtime followed({}, {});
  modules_are_followed(followed);
  note_missing_modules(followed);
  EXPECT_TRUE(followed.notes.all().empty());
  Settings settings;
  settings.layers = ModuleLayers::off;
  Runtime off(settings, {});
  note_missing_modules(off);
  EXPECT_TRUE(off.notes.all().empty());
}

}  // namespace
}  // namespace gable
