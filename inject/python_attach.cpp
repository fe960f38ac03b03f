// SPDX-License-Identifier: Apache-2.0
// Nothing of Python is linked: its functions, all of the stable ABI, are looked up in the process.
// The interpreter's lock is never asked for, because whoever holds it may be waiting for the thread
// that is here. Py_AddPendingCall needs no lock: the main thread makes the call when it next runs
// Python code, with the lock held.
#include "inject/python_attach.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <exception>

#include "collector/runtime/torch_seen.h"

namespace gable {
namespace {

constexpr int kFileInput = 257;  // Py_file_input
constexpr int kOldestMinor = 8, kNewestMinor = 20;

// `folder` and `library` are given; `failed` is the answer where something went wrong. What is no
// Exception (a KeyboardInterrupt, say) is the program's own and goes on.
constexpr const char* kStart = R"(
try:
    import sys
    if folder not in sys.path:
        sys.path.append(folder)
    from gable_profiler import _startup
    _startup.attach(library)
except Exception as problem:
    failed = type(problem).__name__ + ": " + str(problem)
)";

constexpr const char* kNoPython =
    "no Python 3 was found in the process. NVTX ranges and gable.h name layers there.";
constexpr const char* kNoFiles =
    "it is not in the folder python beside libgable_inject.so. Build it with cmake --build BUILD "
    "--target gable_python, or install Gable again.";
constexpr const char* kTooEarly =
    "Python was not running yet when CUDA started. Start the program with gable profile, or with "
    "the "
    "variables that gable env prints.";
constexpr const char* kNotCalled =
    "Python's main thread ran no Python code after CUDA had started. Start the program with gable "
    "profile, or with the variables that gable env prints.";
constexpr const char* kWasRefused =
    "Python took no further call to its main thread. Start the program with gable profile, or with "
    "the variables that gable env prints.";

struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;  // not in every version
  int (*add_pending_call)(int (*)(void*), void*) = nullptr;
  void* (*new_dict)() = nullptr;
  int (*set_item)(void*, const char*, void*) = nullptr;
  void* (*get_item)(void*, const char*) = nullptr;  // borrowed
  void* (*builtins)() = nullptr;                    // borrowed
  void* (*text_of)(const char*) = nullptr;
  void* (*utf8_of)(void*) = nullptr;
  char* (*bytes_of)(void*) = nullptr;
  void* (*compile)(const char*, const char*, int) = nullptr;
  void* (*evaluate)(void*, void*, void*) = nullptr;
  void (*release)(void*) = nullptr;
  void* (*error)() = nullptr;  // borrowed
  int (*error_matches)(void*) = nullptr;
  void (*clear_error)() = nullptr;
  void** exception = nullptr;  // PyExc_Exception

  bool look_up(void* in) {
    const auto found = [in](auto& symbol, const char* name) {
      symbol = reinterpret_cast<std::remove_reference_t<decltype(symbol)>>(dlsym(in, name));
      return symbol != nullptr;
    };
    if (!found(is_finalizing, "Py_IsFinalizing")) found(is_finalizing, "_Py_IsFinalizing");
    return found(is_initialized, "Py_IsInitialized") &&
           found(add_pending_call, "Py_AddPendingCall") && found(new_dict, "PyDict_New") &&
           found(set_item, "PyDict_SetItemString") && found(get_item, "PyDict_GetItemString") &&
           found(builtins, "PyEval_GetBuiltins") && found(text_of, "PyUnicode_DecodeFSDefault") &&
           found(utf8_of, "PyUnicode_AsUTF8String") && found(bytes_of, "PyBytes_AsString") &&
           found(compile, "Py_CompileString") && found(evaluate, "PyEval_EvalCode") &&
           found(release, "Py_DecRef") && found(error, "PyErr_Occurred") &&
           found(error_matches, "PyErr_ExceptionMatches") && found(clear_error, "PyErr_Clear") &&
           found(exception, "PyExc_Exception");
  }

  [[nodiscard]] bool runs() const {
    return is_initialized() != 0 && (is_finalizing == nullptr || is_finalizing() == 0);
  }
};

// What the pending call needs. Written once, before the call is asked for, and never destroyed.
struct Attachment {
  Python python;
  std::string library, folder;
};

// Python is the program itself, a library that it was linked with, or one that it opened for
// itself.
bool find_python(Python& python) {
  if (python.look_up(RTLD_DEFAULT)) return true;
  for (int minor = kNewestMinor; minor >= kOldestMinor; --minor) {
    for (const char* build : {"", "t"}) {  // t: without the interpreter's lock
      const std::string name = "libpython3." + std::to_string(minor) + build + ".so.1.0";
      void* opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (opened != nullptr && python.look_up(opened)) return true;  // stays open: it is in use
    }
  }
  return false;
}

// A reference that is given back.
class Owned {
 public:
  Owned(const Python& python, void* object) : python_(python), object_(object) {}
  ~Owned() {
    if (object_ != nullptr) python_.release(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] void* get() const { return object_; }

 private:
  const Python& python_;
  void* object_;
};

// False: Python has an error set.
bool run_start(const Attachment& attachment) {
  const Python& python = attachment.python;
  const Owned names(python, python.new_dict());
  if (names.get() == nullptr) return false;
  const auto set = [&](const char* name, const std::string& text) {
    const Owned value(python, python.text_of(text.c_str()));
    return value.get() != nullptr && python.set_item(names.get(), name, value.get()) == 0;
  };
  if (python.set_item(names.get(), "__builtins__", python.builtins()) != 0 ||
      !set("folder", attachment.folder) || !set("library", attachment.library))
    return false;
  const Owned code(python, python.compile(kStart, "<gable>", kFileInput));
  if (code.get() == nullptr) return false;
  const Owned result(python, python.evaluate(code.get(), names.get(), names.get()));
  if (result.get() == nullptr) return false;
  void* failed = python.get_item(names.get(), "failed");
  if (failed == nullptr) return true;
  const Owned bytes(python, python.utf8_of(failed));
  if (bytes.get() == nullptr) return false;
  // Kept for ever: the report names it.
  const auto* reason =
      new std::string(std::string("it could not start (") + python.bytes_of(bytes.get()) +
                      "). No module of the program's own may be called gable.");
  modules_missing_because(reason->c_str());
  return true;
}

// On Python's main thread, with the interpreter's lock held.
int on_main_thread(void* pointer) {
  const auto& attachment = *static_cast<const Attachment*>(pointer);
  const Python& python = attachment.python;
  try {
    if (!python.runs()) return 0;
    modules_missing_because("it says why on standard error.");
    if (run_start(attachment)) return 0;
  } catch (const std::exception&) {
    // Out of memory: the program has its modules unnamed.
  }
  if (python.error() == nullptr) return 0;
  if (python.error_matches(*python.exception) == 0)
    return -1;  // raised by a handler of the program's
  python.clear_error();
  return 0;
}

}  // namespace

std::string own_library() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&own_library), &self) == 0 || self.dli_fname == nullptr)
    return {};
  if (self.dli_fname[0] == '/') return self.dli_fname;
  char full[PATH_MAX];  // LD_PRELOAD may have named it from the folder that the program starts in
  return realpath(self.dli_fname, full) == nullptr ? self.dli_fname : full;
}

bool python_is_loaded() { return dlsym(RTLD_DEFAULT, "PyUnicode_DecodeFSDefault") != nullptr; }

bool python_is_to_start() {
  Python python;
  return find_python(python) && python.is_initialized() == 0;
}

std::string python_side_of(const std::string& library) {
  const std::string folder = library.substr(0, library.find_last_of('/') + 1) + "python";
  return access((folder + "/startup/sitecustomize.py").c_str(), R_OK) == 0 &&
                 access((folder + "/gable_profiler/_startup.py").c_str(), R_OK) == 0
             ? folder
             : std::string();
}

void attach_python_side(Runtime& rt) {
  if (rt.settings.layers == ModuleLayers::off || modules_followed(rt)) return;
  auto* attachment = new Attachment;  // never destroyed: Python may call for as long as it lives
  attachment->library = own_library();
  attachment->folder = python_side_of(attachment->library);
  const char* problem = !find_python(attachment->python) ? kNoPython
                        : attachment->folder.empty()     ? kNoFiles
                        : !attachment->python.runs()     ? kTooEarly
                                                         : nullptr;
  if (problem == nullptr) {
    modules_missing_because(kNotCalled);
    if (attachment->python.add_pending_call(on_main_thread, attachment) == 0) return;
    problem = kWasRefused;
  }
  modules_missing_because(problem);
  delete attachment;
}

}  // namespace gable
