// SPDX-License-Identifier: Apache-2.0
// Which calls GPU work came from, by their keys: most calls of a recording made none, and need not
// be kept until they are joined. CUPTI counts calls up, so a bit each is enough.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gable {

class WorkNumbers {
 public:
  // `most`: pieces of 4 KiB that may be held. Keys that lie farther apart are not all held.
  explicit WorkNumbers(std::size_t most = 4096) : most_(most) {}

  void add(std::uint64_t key) {
    if (Bits* const bits = piece(key >> kBits); bits != nullptr) bits->set(key & (kKeys - 1));
  }
  // Whether work came from the call. Never false where it did; true for all once there are more
  // pieces than may be held.
  [[nodiscard]] bool may_have(std::uint64_t key) {
    if (pieces_.size() > most_) return true;
    if (const std::uint64_t number = key >> kBits; number != last_number_) {
      const auto found = pieces_.find(number);
      if (found == pieces_.end()) return false;
      last_number_ = number;
      last_ = found->second.get();
    }
    return last_ != nullptr && last_->test(key & (kKeys - 1));
  }

 private:
  static constexpr unsigned kBits = 15;
  static constexpr std::uint64_t kKeys = std::uint64_t{1} << kBits;
  using Bits = std::bitset<kKeys>;

  Bits* piece(std::uint64_t number) {
    if (pieces_.size() > most_) return nullptr;
    if (number == last_number_ && last_ != nullptr) return last_;
    auto& bits = pieces_[number];
    if (bits == nullptr && pieces_.size() <= most_) bits = std::make_unique<Bits>();
    last_number_ = number;
    last_ = bits.get();
    return last_;
  }

  std::size_t most_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Bits>> pieces_;
  std::uint64_t last_number_ = 0;  // of last_, where there is one
  Bits* last_ = nullptr;
};

}  // namespace gable
