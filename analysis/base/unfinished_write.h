// SPDX-License-Identifier: Apache-2.0
// Files that are written beside their place right now: what becomes of them where the process has
// to end before that is done. A disk may take seconds until a file is on it.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <string>

namespace gable {

// While it lives, this thread writes a file, from before it is opened until it has its name. A disk
// may keep every call of that waiting.
class WriteUnderWay {
 public:
  WriteUnderWay() noexcept { count_.fetch_add(1); }
  ~WriteUnderWay() { count_.fetch_sub(1); }
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

  // Waits until nobody writes. May be called in a signal handler.
  static void await_all(std::chrono::milliseconds patience) noexcept;

 private:
  static std::atomic<int> count_;
};

class UnfinishedWrite {
 public:
  // `part` is to become `path`; `over`: also where there is something of that name. `file`: has no
  // name yet and is to become `part` first; -1: it is that already.
  UnfinishedWrite(int file, const std::string& part, const std::string& path, bool over);
  ~UnfinishedWrite();
  UnfinishedWrite(const UnfinishedWrite&) = delete;
  UnfinishedWrite& operator=(const UnfinishedWrite&) = delete;

  // Every byte is in it; only the disk may not have them yet.
  void whole() noexcept;
  // The file becomes `part`; it is still open. False: it cannot.
  [[nodiscard]] bool give_name() noexcept;

  // Before the process ends at once: what is whole gets its name, every other part is removed. May
  // be called in a signal handler, beside the thread that writes, and by several threads; only the
  // first does it.
  static void settle_all() noexcept;
  // The same, as often as it is called: for tests, whose process goes on.
  static void settle_slots() noexcept;

 private:
  enum class Stage : unsigned char { free, being_made, partly, whole };
  struct Slot {
    std::atomic<Stage> stage{Stage::free};
    std::atomic<bool> unnamed{false};
    char file[32], part[PATH_MAX], path[PATH_MAX];
    bool over;
  };
  // More than threads that write at once. What finds none free is not settled.
  static Slot slots_[4];
  static bool link(const char* file, const char* part) noexcept;

  const int file_;
  const std::string part_;
  Slot* slot_ = nullptr;
};

}  // namespace gable
