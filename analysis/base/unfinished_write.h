// SPDX-License-Identifier: Apache-2.0
// Files being written under a temporary name, and what becomes of them if the process must end
// first. Writing to a disk may take seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <string>

namespace gable {

// While an object lives, this thread writes a file, from before it is opened until it has its name;
// the disk may block each of these calls.
class WriteUnderWay {
 public:
  WriteUnderWay() noexcept { count_.fetch_add(1); }
  ~WriteUnderWay() { count_.fetch_sub(1); }
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

  // Waits until no thread writes. May be called in a signal handler.
  static void await_all(std::chrono::milliseconds patience) noexcept;

 private:
  static std::atomic<int> count_;
};

class UnfinishedWrite {
 public:
  // `part` will be renamed to `path`; `over`: even if that exists. `file`: an unnamed file that
  // becomes `part` first; -1: it is `part` already.
  UnfinishedWrite(int file, const std::string& part, const std::string& path, bool over);
  ~UnfinishedWrite();
  UnfinishedWrite(const UnfinishedWrite&) = delete;
  UnfinishedWrite& operator=(const UnfinishedWrite&) = delete;

  // Says that every byte is written, though maybe not on the disk yet.
  void whole() noexcept;
  // Names the still open file `part`; returns false on failure.
  [[nodiscard]] bool give_name() noexcept;

  // Called before the process ends at once: whole files get their names, all others are removed.
  // May be called in a signal handler, while a thread writes, and by several threads; only the
  // first call acts.
  static void settle_all() noexcept;
  // The same at every call, for tests, whose process goes on.
  static void settle_slots() noexcept;

 private:
  enum class Stage : unsigned char { free, being_made, partly, whole };
  struct Slot {
    std::atomic<Stage> stage{Stage::free};
    std::atomic<bool> unnamed{false};
    char file[32], part[PATH_MAX], path[PATH_MAX];
    bool over;
  };
  // More slots than threads that write at once; a write without a free slot is not settled.
  static Slot slots_[4];
  static bool link(const char* file, const char* part) noexcept;

  const int file_;
  const std::string part_;
  Slot* slot_ = nullptr;
};

}  // namespace gable
