// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/byte_source.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>

#include "analysis/base/input_file.h"
#include "tools/base/wrong_use.h"
#include "tools/streams/utf16_source.h"

namespace gable {
namespace {

constexpr unsigned kGzipBuffer = 1u << 18;
constexpr std::size_t kMostOfOneRead = 1u << 30;
constexpr std::uint64_t kMostUnpacked = 64u << 20;  // below this nobody minds how it was packed
constexpr std::uint64_t kMostTimesLarger = 400;     // texts of profilers are packed to a twentieth

// zlib hands plain files through as they are.
class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, Progress& progress, InputFile& file)
      : path_(std::move(path)), progress_(progress), regular_(file.is_regular()) {
    const int number = file.release();
    file_ = gzdopen(number, "rb");
    if (file_ == nullptr) {
      ::close(number);
      throw WrongUse(path_ + " cannot be read.");
    }
    gzbuffer(file_, kGzipBuffer);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { gzclose_r(file_); }

  // The first bytes, which read() gives again.
  std::string_view look(std::size_t size) {
    begin_.resize(size);
    std::size_t there = 0;
    while (there < size) {
      const std::size_t count = unpack(begin_.data() + there, size - there);
      if (count == 0) break;
      there += count;
    }
    begin_.resize(there);
    return begin_;
  }

  std::size_t read(char* to, std::size_t size) override {
    if (begin_.empty()) return unpack(to, size);
    const std::size_t count = std::min(size, begin_.size());
    std::copy_n(begin_.begin(), count, to);
    begin_.erase(0, count);
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return path_; }

 private:
  std::size_t unpack(char* to, std::size_t size) {
    const int count = gzread(file_, to, static_cast<unsigned>(std::min(size, kMostOfOneRead)));
    int code = Z_OK;
    std::string_view text = gzerror(file_, &code);
    // "<fd:3>: incorrect data check"
    if (const auto behind = text.find(">: "); text.starts_with("<fd:") && behind < text.size())
      text.remove_prefix(behind + 3);
    // An end within the packed data is told beside the bytes before it.
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      const bool cut = code == Z_BUF_ERROR;
      throw WrongUse(path_ + (cut ? ": the packed data ends too early: the file was cut off."
                                  : ": cannot be unpacked or read (" + std::string(text) + ")."));
    }
    const auto packed = static_cast<std::uint64_t>(std::max<z_off_t>(gzoffset(file_), 0));
    progress_.at(packed);
    given_ += static_cast<std::uint64_t>(count);
    check_size(packed);
    return static_cast<std::size_t>(count);
  }

  // A few bytes can unpack to very many, and a pipe may have no end.
  void check_size(std::uint64_t packed) const {
    if (given_ > kMostUnpacked && given_ / kMostTimesLarger > packed)
      throw WrongUse(path_ + " unpacks to more than " + std::to_string(kMostTimesLarger) +
                     " times its size, which no profile does.");
    if (!regular_ && given_ > kMostOfPipe)
      throw WrongUse(path_ + " is a pipe that has given more than " +
                     std::to_string(kMostOfPipe >> 30) + " GiB: save it as a file first.");
  }

  std::string path_, begin_;
  Progress& progress_;
  const bool regular_;
  std::uint64_t given_ = 0;
  gzFile file_ = nullptr;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path, Progress& progress,
                                       const std::string& name) {
  InputFile file(path, "a profile");
  if (!file.error().empty()) throw WrongUse(file.error());
  if (file.is_regular() && file.size() == 0) throw WrongUse(path + " is empty.");
  const std::string& shown = name.empty() ? path : name;
  progress.begin(shown, file.size());  // of a pipe nobody knows it
  auto source = std::make_unique<FileSource>(shown, progress, file);
  if (Utf16Source::begins(source->look(2))) return std::make_unique<Utf16Source>(std::move(source));
  return source;
}

}  // namespace gable
