// SPDX-License-Identifier: Apache-2.0
// Bytes of an input file, a piece at a time, so that no file is held whole. What gzip has packed
// is unpacked on the way, and UTF-16 becomes UTF-8.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "tools/streams/progress.h"

namespace gable {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes; 0 at the end. Throws WrongUse where the file cannot be read on.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  // The source's name in sentences.
  [[nodiscard]] virtual const std::string& name() const = 0;
};

// Sentences call it `name`; empty: as its path. Throws WrongUse where there is no such file, or it
// is empty.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path, Progress& progress,
                                                     const std::string& name = {});

// A source of text already in memory.
class TextSource final : public ByteSource {
 public:
  TextSource(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t count = size < text_.size() ? size : text_.size();
    if (count > 0) std::memcpy(to, text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::string_view text_;
  std::string name_;
};

}  // namespace gable
