// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/text_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "analysis/base/plain_file.h"
#include "analysis/base/unfinished_write.h"

namespace gable {
namespace {

constexpr mode_t kOwnersAlone = 0600, kByUmask = 0666;
constexpr int kMostNames = 100;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool all_may_write(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0;
}

mode_t mode_of_new(const std::string& folder) {
  return all_may_write(folder) ? kOwnersAlone : kByUmask;
}

// "/dev/stdout", "/dev/fd/3": the number of an open file of this process.
std::optional<int> open_file_number(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.substr(0, folder.size()) != folder) continue;
    int number = 0;
    for (const char c : path.substr(folder.size())) {
      if (c < '0' || c > '9' || number > 1'000'000) return std::nullopt;
      number = number * 10 + (c - '0');
    }
    return path.size() > folder.size() ? std::optional(number) : std::nullopt;
  }
  return std::nullopt;
}

// If the program closed its standard streams, its output must not end up in a file of Gable's.
int opened(const char* path, int flags, mode_t mode) {
  const int file = ::open(path, flags | O_CLOEXEC, mode);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int number = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(file);
  errno = error;
  return number;
}

int close_file(int file, int error) { return ::close(file) != 0 && error == 0 ? errno : error; }

// A pipe that nobody reads yet cannot be opened without waiting.
int write_in_place(const std::string& path, const std::string& text,
                   std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const int file = opened(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (file >= 0) return close_file(file, write_whole(file, text, patience));
    if (errno == EINTR) continue;
    if (errno != ENXIO || std::chrono::steady_clock::now() >= end) return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

struct NewFile {
  int file = -1;  // -1: there is none, and `error` says why
  int error = 0;
  std::string path;
  std::unique_ptr<UnfinishedWrite> unfinished;  // until it has its name
};

// A name that nobody can have prepared.
std::string name_beside(const std::string& folder) {
  unsigned long long number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number))
    number = static_cast<unsigned long long>(::getpid()) << 32 |
             static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "/.gable-%016llx.part", number);
  return folder + name.data();
}

// A file without a name is gone with a program that ends meanwhile. Not every file system has such.
NewFile open_unnamed(const std::string& folder, mode_t mode) {
  NewFile made;
  made.path = name_beside(folder);  // which it gets in the end
  made.file = opened(folder.c_str(), O_WRONLY | O_TMPFILE, mode);
  return made;
}

NewFile open_beside(const std::string& folder, mode_t mode) {
  NewFile made;
  for (int i = 0; i < kMostNames; ++i) {
    made.path = name_beside(folder);
    made.file = opened(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    made.error = made.file < 0 ? errno : 0;
    if (made.file >= 0 || (made.error != EEXIST && made.error != EINTR)) break;
  }
  return made;
}

// The file gets `path` for its name. An errno; EEXIST where there is something.
int link_to_new(int file, const std::string& path) {
  std::array<char, 32> own{};
  std::snprintf(own.data(), own.size(), "/proc/self/fd/%d", file);
  return ::linkat(AT_FDCWD, own.data(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

// What is written beside `path` and on the disk, to be renamed; `over`: also where there is
// something. Where nothing may be there, a file without a name gets its own at once: a program that
// ends meanwhile leaves nothing behind.
NewFile write_beside(const std::string& path, const std::string& text, std::optional<mode_t> mode,
                     bool over, bool unnamed = true) {
  const auto folder = folder_of(path);
  const auto first_mode = mode ? kOwnersAlone : mode_of_new(folder);
  auto made = unnamed ? open_unnamed(folder, first_mode) : open_beside(folder, first_mode);
  if (made.file < 0 && unnamed) return write_beside(path, text, mode, over, false);
  if (made.file < 0) return made;
  made.unfinished =
      std::make_unique<UnfinishedWrite>(unnamed ? made.file : -1, made.path, path, over);
  int error = write_whole(made.file, text);
  if (error == 0 && mode && ::fchmod(made.file, *mode) != 0) error = errno;
  if (error == 0) made.unfinished->whole();
  // Else the rename could reach the disk before what is renamed. Some file systems know no such
  // thing.
  if (error == 0 && ::fsync(made.file) != 0 && errno != EINVAL && errno != ENOTSUP) error = errno;
  if (error == 0 && unnamed && !over) {
    const int linked = link_to_new(made.file, path);
    if (linked == 0) made.path = path;
    if (linked == 0 || linked == EEXIST) {
      made.error = close_file(made.file, linked);
      if (made.error != 0 && linked == 0) ::unlink(path.c_str());
      return made;
    }
  }
  const bool named = !unnamed || (error == 0 && made.unfinished->give_name());
  if (error == 0 && !named) {  // for instance without /proc
    ::close(made.file);
    made.unfinished.reset();
    return write_beside(path, text, mode, over, false);
  }
  made.error = close_file(made.file, error);
  if (made.error != 0 && named) ::unlink(made.path.c_str());
  return made;
}

int replace(const std::string& path, const std::string& text, std::optional<mode_t> mode) {
  const auto made = write_beside(path, text, mode, true);
  if (made.error != 0) return made.error;
  if (::rename(made.path.c_str(), path.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(made.path.c_str());
  return error;
}

// EEXIST where there is something.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno == EEXIST) return errno;
  // A file system that cannot do that, for instance over a network.
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

int write_to_new(const std::string& path, const std::string& text) {
  const auto made = write_beside(path, text, std::nullopt, false);
  if (made.error != 0 || made.path == path) return made.error;
  int error = rename_to_new(made.path, path);
  if (error == EPERM || error == ENOTSUP || error == ENOSYS) {  // nor links
    struct stat info {};
    error = ::lstat(path.c_str(), &info) == 0 ? EEXIST : 0;
    if (error == 0 && ::rename(made.path.c_str(), path.c_str()) == 0) return 0;
    if (error == 0) error = errno;
  }
  if (error != 0) ::unlink(made.path.c_str());
  return error;
}

// Of a link to what is not there yet: the name that it gives, if that is in a folder.
std::string missing_end_of(const std::string& link) {
  std::array<char, PATH_MAX> name{};
  const auto size = ::readlink(link.c_str(), name.data(), name.size() - 1);
  if (size <= 0) return link;
  const std::string told(name.data(), static_cast<std::size_t>(size));
  const std::string end = told.front() == '/' ? told : folder_of(link) + "/" + told;
  struct stat info {};
  const bool another = ::lstat(end.c_str(), &info) == 0;  // link
  return another || ::stat(folder_of(end).c_str(), &info) != 0 ? link : end;
}

// Where a link leads. In a folder where all may write, a link of somebody else's may lead anywhere.
std::string follow_link(const std::string& path) {
  struct stat link {};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return path;
  if (link.st_uid != ::geteuid() && link.st_uid != 0 && all_may_write(folder_of(path))) return path;
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return errno == ENOENT ? missing_end_of(path) : path;
  std::string found = real;
  std::free(real);
  return found;
}

int write_text(const std::string& path, const std::string& text,
               std::chrono::milliseconds patience) {
  if (const auto number = open_file_number(path)) return write_whole(*number, text, patience);
  const auto target = follow_link(path);
  struct stat info {};
  const bool there = ::lstat(target.c_str(), &info) == 0;
  if (!there || S_ISLNK(info.st_mode)) return replace(target, text, std::nullopt);
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return write_in_place(target, text, patience);
  return replace(target, text, info.st_mode & 0777);
}

// When this process began, on the clock of files. Of one that cannot be told: at the epoch, so that
// every file is younger.
timespec process_start() {
  const std::string text = read_plain_file("/proc/self/stat").value_or("");
  // The second field, a name in parentheses, may hold anything; the start is the 22nd.
  auto at = text.rfind(')');
  for (int field = 2; field < 22 && at != text.npos; ++field) at = text.find(' ', at + 1);
  const long hertz = ::sysconf(_SC_CLK_TCK);
  timespec now{}, since_boot{};
  if (at == text.npos || hertz <= 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0)
    return {};
  constexpr long long kSecond = 1'000'000'000;
  const auto ticks = std::strtoll(text.c_str() + at, nullptr, 10);
  const long long age =
      since_boot.tv_sec * kSecond + since_boot.tv_nsec - ticks * (kSecond / hertz);
  // Told in whole ticks. No program writes a report in its first one, but one that ended right
  // before this began may have.
  const long long start = now.tv_sec * kSecond + now.tv_nsec - age + kSecond / hertz;
  return {static_cast<time_t>(start / kSecond), static_cast<long>(start % kSecond)};
}

bool is_older(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec < other.tv_sec : one.tv_nsec < other.tv_nsec;
}

// Replaces a file from before this process. EEXIST: another process was faster.
int replace_old(const std::string& path, const std::string& text, const struct stat& seen) {
  const int old = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (old < 0) return replace(path, text, seen.st_mode & 0777);  // it may be written, not read
  struct stat now {};
  int error = EEXIST;
  if (::flock(old, LOCK_EX | LOCK_NB) == 0 && ::stat(path.c_str(), &now) == 0 &&
      now.st_ino == seen.st_ino && now.st_dev == seen.st_dev)
    error = replace(path, text, seen.st_mode & 0777);
  ::close(old);
  return error;
}

std::string reason(int error) {
  if (error == ENXIO) return "nobody reads it";
  if (error == ETIMEDOUT) return "its reader does not read from it";
  std::array<char, 128> text{};
  return ::strerror_r(error, text.data(), text.size());
}

}  // namespace

std::string write_text_file(const std::string& text, const std::string& path,
                            std::chrono::milliseconds patience) {
  const WriteUnderWay under_way;
  try {
    const int error = write_text(path, text, patience);
    return error == 0 ? std::string() : path + " cannot be written: " + reason(error) + ".";
  } catch (const std::exception& error) {
    return path + " cannot be written: " + error.what() + ".";
  }
}

OwnFile::OwnFile(std::string path, std::function<std::string(const std::string&, unsigned)> number,
                 std::function<bool(const std::string&)> taken)
    : wanted_(std::move(path)),
      path_(wanted_),
      number_(std::move(number)),
      taken_(std::move(taken)) {}

bool OwnFile::is_to_be_named() const {
  struct stat info {};
  return !written_ || ::stat(path_.c_str(), &info) != 0 || info.st_ino != inode_ ||
         info.st_dev != device_;
}

int OwnFile::write_as(const std::string& path, const std::string& text) {
  if (taken_ && taken_(path)) return EEXIST;
  const auto target = follow_link(path);
  struct stat info {};
  if (::lstat(target.c_str(), &info) != 0) return write_to_new(target, text);
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (S_ISLNK(info.st_mode)) return replace(target, text, std::nullopt);
  return is_older(info.st_mtim, process_start()) ? replace_old(target, text, info) : EEXIST;
}

int OwnFile::write_named(const std::string& text) {
  if (!is_to_be_named()) return write_text(path_, text, kReaderPatience);
  int error = write_as(wanted_, text);
  path_ = wanted_;
  for (unsigned n = 1; error == EEXIST && n <= kMostNames; ++n) {
    path_ = number_(wanted_, n);
    error = write_as(path_, text);
  }
  return error;
}

std::string OwnFile::write(const std::string& text) {
  if (is_written_in_place(wanted_)) return write_text_file(text, wanted_);
  const WriteUnderWay under_way;
  try {
    const int error = write_named(text);
    struct stat info {};
    if (error == 0 && ::stat(path_.c_str(), &info) == 0) {
      written_ = true;
      device_ = info.st_dev;
      inode_ = info.st_ino;
    }
    return error == 0 ? std::string() : path_ + " cannot be written: " + reason(error) + ".";
  } catch (const std::exception& error) {
    return path_ + " cannot be written: " + error.what() + ".";
  }
}

bool is_written_in_place(const std::string& path) {
  struct stat info {};
  if (open_file_number(path)) return true;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

int write_new_file(const std::string& text, const std::string& path) {
  const int file =
      opened(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_of_new(folder_of(path)));
  if (file < 0) return errno;
  const int error = close_file(file, write_whole(file, text));
  if (error != 0) ::unlink(path.c_str());
  return error;
}

}  // namespace gable
