// SPDX-License-Identifier: Apache-2.0
// Any number of records, sorted, in bounded memory: what is more than a buffer goes into a
// temporary file in sorted runs, which are merged when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/streams/spill_file.h"

namespace gable {

inline constexpr std::size_t kSortedRecordsBytes = std::size_t{4} << 20;

// For records that are read in the order in which they were added.
struct AsTheyCome {
  template <typename Record>
  bool operator()(const Record&, const Record&) const {
    return false;
  }
};

// `Less` is a type whose operator() orders two records. Those that it holds for equal stay in the
// order in which they were added.
template <typename Record, typename Less>
class SortedRecords {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // `bytes`: most bytes of records in memory, while adding and while reading.
  explicit SortedRecords(std::size_t bytes = kSortedRecordsBytes)
      : most_(std::max<std::size_t>(bytes / sizeof(Record), 2)) {}

  void add(const Record& record) {
    if (buffer_.size() == most_) write_run();
    // All of it at once: a buffer that grows is there twice meanwhile.
    if (buffer_.capacity() == buffer_.size())
      buffer_.reserve(buffer_.empty() ? std::min(most_, kFew) : most_);
    buffer_.push_back(record);
    ++size_;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // The first record, or nullptr. Called after the last addition, any number of times.
  const Record* first() {
    if (!runs_.empty() && !buffer_.empty()) write_run();
    if (runs_.empty()) {
      sort();
      place_ = 0;
      return buffer_.empty() ? nullptr : buffer_.data();
    }
    open_runs();
    return &heap_.front()->record();
  }
  // The next record, or nullptr at the end. Invalidates the one read before.
  const Record* next() {
    if (runs_.empty()) return ++place_ < buffer_.size() ? &buffer_[place_] : nullptr;
    Run* const run = heap_.front();
    ++run->at;
    if (run->at == run->loaded.size() && !load(*run)) {
      heap_.front() = heap_.back();
      heap_.pop_back();
      if (heap_.empty()) return nullptr;
    }
    sift_down();
    return &heap_.front()->record();
  }
  // Forgets all.
  void clear() { *this = SortedRecords(most_ * sizeof(Record)); }

  SortedRecords(SortedRecords&&) noexcept = default;
  SortedRecords& operator=(SortedRecords&&) noexcept = default;

 private:
  struct Run {
    std::uint64_t from = 0, to = 0;  // places in the file, in records
    Record last{};
    std::uint64_t read = 0;  // up to where it is loaded
    std::vector<Record> loaded;
    std::size_t at = 0;
    [[nodiscard]] const Record& record() const { return loaded[at]; }
  };

  void sort() {
    if (!std::is_sorted(buffer_.begin(), buffer_.end(), Less()))
      std::stable_sort(buffer_.begin(), buffer_.end(), Less());
  }

  void write_run() {
    sort();
    const std::uint64_t from = runs_.empty() ? 0 : runs_.back().to;
    if (file_ == nullptr) file_ = std::make_unique<SpillFile>();
    file_->append(buffer_.data(), buffer_.size() * sizeof(Record));
    // Most files have their rows in order, or nearly so: then all of it is one run.
    const bool behind = !runs_.empty() && !Less()(buffer_.front(), runs_.back().last);
    if (!behind) runs_.emplace_back().from = from;
    runs_.back().to = from + buffer_.size();
    runs_.back().last = buffer_.back();
    buffer_.clear();
  }

  void open_runs() {
    std::vector<Record>().swap(buffer_);
    heap_.clear();
    for (Run& run : runs_) {
      run.read = run.from;
      load(run);
      heap_.push_back(&run);
    }
    for (std::size_t i = heap_.size() / 2; i-- > 0;) sift_down(i);
  }

  bool load(Run& run) {
    // Smaller pieces of many runs, so that all of them together are no more than the buffer was.
    const std::size_t piece = std::max(most_ / runs_.size(), std::size_t{1});
    const auto count = std::min<std::uint64_t>(piece, run.to - run.read);
    run.loaded.resize(count);
    run.at = 0;
    if (count == 0) return false;
    file_->read(run.read * sizeof(Record), run.loaded.data(), count * sizeof(Record));
    run.read += count;
    return true;
  }

  // Of equal records those of the earlier run come first.
  static bool earlier(const Run* a, const Run* b) {
    if (Less()(a->record(), b->record())) return true;
    return a < b && !Less()(b->record(), a->record());
  }

  void sift_down(std::size_t i = 0) {
    Run* const moved = heap_[i];
    while (2 * i + 1 < heap_.size()) {
      std::size_t child = 2 * i + 1;
      if (child + 1 < heap_.size() && earlier(heap_[child + 1], heap_[child])) ++child;
      if (!earlier(heap_[child], moved)) break;
      heap_[i] = heap_[child];
      i = child;
    }
    heap_[i] = moved;
  }

  static constexpr std::size_t kFew = 64;
  std::size_t most_, place_ = 0;
  std::uint64_t size_ = 0;
  std::vector<Record> buffer_;
  std::unique_ptr<SpillFile> file_;
  std::vector<Run> runs_;
  std::vector<Run*> heap_;  // the run with the least record is the first
};

}  // namespace gable
