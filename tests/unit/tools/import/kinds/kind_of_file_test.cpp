// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/tools/streams/byte_files.h"
#include "tools/import/kinds/file_kind.h"

namespace gable {
namespace {

using namespace std::string_view_literals;

using KindOfFile = tests::ByteFiles;

// `text` is ASCII.
std::string utf16(std::string_view text) {
  std::string out = "\xFF\xFE";
  for (const char c : text) out += {c, '\0'};
  return out;
}

TEST_F(KindOfFile, IsThatOfItsBytesUnpacked) {
  EXPECT_EQ(kind_of_file(file("a", "PAR1")), FileKind::parquet);
  EXPECT_EQ(kind_of_file(packed("b", "PAR1")), FileKind::parquet);
  EXPECT_EQ(kind_of_file(file("c", "x")), FileKind::unknown);
  EXPECT_EQ(kind_of_file(file("d.nsys-rep", "")), FileKind::unknown);
  EXPECT_EQ(kind_of_file(folder_.at("none.nsys-rep")), FileKind::unknown);
  EXPECT_EQ(kind_of_file("/dev/null"), FileKind::unknown);
}

TEST_F(KindOfFile, IsThatOfItsNameWhereItsBytesAreUnknown) {
  EXPECT_EQ(kind_of_file(file("a.nsys-rep", "x")), FileKind::nsys_report);
  EXPECT_EQ(kind_of_file(file("a.qdrep", "x")), FileKind::nsys_report);
  EXPECT_EQ(kind_of_file(file("a.qdstrm", "x")), FileKind::nsys_capture);
  EXPECT_EQ(kind_of_file(file("a.ncu-rep", "x")), FileKind::ncu_report);
  EXPECT_EQ(kind_of_file(file("b.ncu-rep", "PAR1")), FileKind::parquet);
}

TEST_F(KindOfFile, IsReadFromTheFirst64KiB) {
  const std::string blank(65536 - 5, ' ');
  EXPECT_EQ(kind_of_file(file("a", blank + "<html")), FileKind::web_page);
  EXPECT_EQ(kind_of_file(file("b", blank + " <html")), FileKind::unknown);
}

TEST_F(KindOfFile, MayBeUtf16) {
  EXPECT_EQ(kind_of_file(file("a", utf16("x\n\"ID\",\"a\""))), FileKind::ncu_csv);
  // Its last unit is cut off.
  EXPECT_EQ(kind_of_file(file("b", utf16("x\n\"ID\",") + "a")), FileKind::ncu_csv);
  EXPECT_EQ(kind_of_file(file("c", utf16(std::string(20000, ' ') + "<html"))), FileKind::web_page);
  EXPECT_EQ(kind_of_file(file("d", utf16("x"))), FileKind::unknown);
  // A lone half of a character is no text.
  EXPECT_EQ(kind_of_file(file("e.qdrep", "\xFF\xFE\x00\xDC\x00\xDC"sv)), FileKind::nsys_report);
}

TEST_F(KindOfFile, OfAFolderIsThatOfTheNamesInIt) {
  EXPECT_EQ(kind_of_file(folder_.path()), FileKind::unknown);
  for (const auto& [name, kind] :
       {std::pair{"a.parquet", FileKind::parquet}, std::pair{"a.arrow", FileKind::arrow},
        std::pair{"a.arrows", FileKind::arrow}, std::pair{"a.txt", FileKind::unknown}}) {
    const std::string inside = std::string("of_") + name + "/";
    file(inside + name, "x");
    EXPECT_EQ(kind_of_file(folder_.at(inside)), kind) << name;
  }
  file("of_a.parquet/b.txt", "x");
  EXPECT_EQ(kind_of_file(folder_.at("of_a.parquet")), FileKind::parquet);
}

TEST(SentenceOf, SaysWhatAFileIsAndWhichOptionTakesIt) {
  struct Said {
    FileKind kind;
    std::string_view is, remedy;
  };
  const std::vector<Said> cases = {
      {FileKind::sqlite, "SQLite", "--nsys"},
      {FileKind::nsys_report, "Nsight Systems", "--nsys"},
      {FileKind::nsys_capture, "nsys", "QdstrmImporter"},
      {FileKind::nsys_json, "JSON", "nsys export --type sqlite"},
      {FileKind::arrow, "Arrow", "nsys export --type sqlite"},
      {FileKind::parquet, "Parquet", "nsys export --type sqlite"},
      {FileKind::hdf5, "HDF5", "nsys export --type sqlite"},
      {FileKind::nsys_summary, "nsys stats", "nsys export --type sqlite"},
      {FileKind::ncu_report, "Nsight Compute", "--ncu"},
      {FileKind::ncu_csv, "ncu", "--ncu"},
      {FileKind::trace, "trace", "--kineto"},
      {FileKind::chrome_trace, "Chrome", "--kineto"},
      {FileKind::nsys_trace, "trace", "--nsys"},
      {FileKind::nvprof, "nvprof", "--ncu"},
      {FileKind::rocprof, "rocprof", "--proton"},
      {FileKind::web_page, "web server", "address"},
      {FileKind::lfs_pointer, "Git LFS", "git lfs pull"},
      {FileKind::archive, "packed", "unpack"},
      {FileKind::hatchet, "proton", "--proton"},
      {FileKind::xplane, "XPlane", "--xplane"},
      {FileKind::gable_report, "Gable", "gable report"},
  };
  for (const auto& [kind, is, remedy] : cases) {
    const std::string sentence = sentence_of(kind, "dir/f");
    EXPECT_TRUE(sentence.starts_with("dir/f ")) << sentence;
    EXPECT_NE(sentence.find(is), std::string::npos) << is << ": " << sentence;
    EXPECT_NE(sentence.find(remedy), std::string::npos) << remedy << ": " << sentence;
  }
  EXPECT_EQ(sentence_of(FileKind::unknown, "f"), "");
}

}  // namespace
}  // namespace gable
