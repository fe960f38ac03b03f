// SPDX-License-Identifier: Apache-2.0
// An SQLite file written by another program: read only and untrusted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace gable {

class SqliteFile {
 public:
  // 146 years of ns: a difference of two fits.
  static constexpr std::int64_t kMostTime = INT64_MAX / 2, kLeastTime = -kMostTime;

  // Throws WrongUse where it is no such file, or a damaged one.
  // Sentences call it `name`; empty: as its path.
  explicit SqliteFile(const std::string& path, const std::string& name = {});
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  ~SqliteFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& table) const { return columns_.contains(table); }
  [[nodiscard]] bool has(const std::string& table, const std::string& column) const;
  [[nodiscard]] std::uint64_t rows(const std::string& table);  // about as many
  // Sets the zero of times; a file may have times before its own zero.
  void set_zero(std::int64_t zero);
  [[nodiscard]] std::int64_t zero() const { return zero_; }

 private:
  friend class SqliteRows;
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_;
  sqlite3* file_ = nullptr;
  std::int64_t zero_ = 0;
  std::map<std::string, std::set<std::string>> columns_;  // by table; views are none
};

// The rows of one table, or those that `where` chooses. Columns that the table lacks are empty.
class SqliteRows {
 public:
  SqliteRows(SqliteFile& file, std::string table, const std::vector<std::string>& columns,
             const std::string& where = {});
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  ~SqliteRows();

  bool next();
  void again(std::int64_t parameter);  // from the first row on, with ?1
  // The row's number, from 1.
  [[nodiscard]] std::uint64_t row() const { return row_; }

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  // A whole number from 0 to `most`; empty for null. Throws WrongUse if it is anything else.
  [[nodiscard]] std::optional<std::uint64_t> number(int column,
                                                    std::uint64_t most = INT64_MAX) const;
  [[nodiscard]] std::uint64_t needed(int column, std::uint64_t most = INT64_MAX) const;
  // Any whole number; empty if the value is not one.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  // A time since the file's zero().
  [[nodiscard]] std::optional<std::uint64_t> time(int column) const;
  [[nodiscard]] std::uint64_t needed_time(int column) const;
  [[noreturn]] void broken(const std::string& what) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> integer_within(int column, std::int64_t least,
                                                           std::int64_t most) const;

  SqliteFile& file_;
  std::string table_;
  std::vector<std::string> columns_;
  sqlite3_stmt* statement_ = nullptr;
  std::uint64_t row_ = 0;
};

}  // namespace gable
