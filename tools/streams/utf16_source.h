// SPDX-License-Identifier: Apache-2.0
// Text of 16-bit units, as Windows' PowerShell writes what programs print, as UTF-8.
#pragma once

#include <iconv.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/streams/byte_source.h"

namespace gable {

class Utf16Source final : public ByteSource {
 public:
  // Bytes that begin with a mark of order. Throws WrongUse where the system cannot convert them.
  explicit Utf16Source(std::unique_ptr<ByteSource> from);
  Utf16Source(const Utf16Source&) = delete;
  Utf16Source& operator=(const Utf16Source&) = delete;
  ~Utf16Source() override;

  [[nodiscard]] static bool begins(std::string_view head);

  std::size_t read(char* to, std::size_t size) override;
  [[nodiscard]] const std::string& name() const override { return from_->name(); }

 private:
  void convert();

  std::unique_ptr<ByteSource> from_;
  iconv_t converter_;
  std::vector<char> bytes_;  // that were read; the first `left_` wait to be converted
  std::size_t left_ = 0;
  std::string text_;
  std::size_t given_ = 0;  // of `text_`
  bool at_end_ = false;
};

}  // namespace gable
