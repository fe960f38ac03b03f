// SPDX-License-Identifier: Apache-2.0
#include "tools/import/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tools/command.h"

namespace gable {
namespace {

constexpr unsigned kBuffer = 1u << 18;
constexpr std::size_t kMostAtOnce = 1u << 30;

// zlib hands plain files through as they are.
class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, Progress& progress)
      : path_(std::move(path)), progress_(progress), file_(gzopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) throw WrongUse(path_ + ": " + std::strerror(errno) + ".");
    gzbuffer(file_, kBuffer);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { gzclose_r(file_); }

  std::size_t read(char* to, std::size_t size) override {
    const int count = gzread(file_, to, static_cast<unsigned>(std::min(size, kMostAtOnce)));
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    // An end within the packed data is told beside the bytes before it.
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      const bool cut = code == Z_BUF_ERROR;
      throw WrongUse(path_ + (cut ? ": the packed data ends too early: the file was cut off."
                                  : ": cannot be unpacked or read (" + std::string(text) + ")."));
    }
    progress_.at(static_cast<std::uint64_t>(std::max<z_off_t>(gzoffset(file_), 0)));
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] const std::string& name() const override { return path_; }

 private:
  std::string path_;
  Progress& progress_;
  gzFile file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path, Progress& progress) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) throw WrongUse(path + ": there is no such file.");
  if (std::filesystem::is_directory(status))
    throw WrongUse(path + " is a folder: name the files in it.");
  std::uintmax_t size = 0;  // of a pipe nobody knows it
  if (std::filesystem::is_regular_file(status)) {
    size = std::filesystem::file_size(path, code);
    if (!code && size == 0) throw WrongUse(path + " is empty.");
  }
  progress.begin(path, code ? 0 : size);
  return std::make_unique<FileSource>(path, progress);
}

}  // namespace gable
