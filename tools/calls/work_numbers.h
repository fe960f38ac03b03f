// SPDX-License-Identifier: Apache-2.0
// Which calls GPU work came from, by their keys. Most calls of a recording launch nothing and need
// not be kept until they are joined with work. CUPTI counts calls up, so one bit per key is enough.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gable {

class WorkNumbers {
 public:
  // `most`: how many pieces of 4 KiB it may hold.
  explicit WorkNumbers(std::size_t most = 4096) : most_(most) {}

  // The call with this key launched work.
  void add(std::uint64_t key) {
    if (full_) return;
    Bits* bits = piece(key >> kBits);
    if (bits == nullptr) {
      if (pieces_.size() == most_) return give_up();
      pieces_[key >> kBits] = std::make_unique<Bits>();
      bits = piece(key >> kBits);
    }
    bits->set(key & (kKeys - 1));
  }
  // False: no work came from the call. True for every call once the keys need more pieces than it
  // may hold.
  [[nodiscard]] bool may_have(std::uint64_t key) {
    if (full_) return true;
    const Bits* const bits = piece(key >> kBits);
    return bits != nullptr && bits->test(key & (kKeys - 1));
  }

 private:
  static constexpr unsigned kBits = 15;
  static constexpr std::uint64_t kKeys = std::uint64_t{1} << kBits;
  using Bits = std::bitset<kKeys>;

  // nullptr: no key of the piece was added. The last one found is nearly always the next, too.
  Bits* piece(std::uint64_t number) {
    if (last_ != nullptr && number == last_number_) return last_;
    const auto found = pieces_.find(number);
    if (found == pieces_.end()) return nullptr;
    last_number_ = number;
    last_ = found->second.get();
    return last_;
  }

  void give_up() {
    full_ = true;
    pieces_.clear();
    last_ = nullptr;
  }

  const std::size_t most_;
  bool full_ = false;
  std::unordered_map<std::uint64_t, std::unique_ptr<Bits>> pieces_;
  std::uint64_t last_number_ = 0;
  Bits* last_ = nullptr;
};

}  // namespace gable
