// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/cubin_lines.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace gable {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of lines that are read
constexpr std::size_t kMostLines = 65536;
constexpr std::uint64_t kLastLine = 1 << 30;

// Reads on until it would leave the bytes; from then on it has failed and gives zeros.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {
    failed_ = at > bytes.size();
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool good() const { return !failed_; }
  [[nodiscard]] bool ended() const { return failed_ || at_ == bytes_.size(); }

  template <typename T>
  T number() {
    T value{};
    if (failed_ || bytes_.size() - at_ < sizeof value) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);  // little-endian, as the GPU and we are
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  // Up to its zero, which is taken along.
  std::string_view text() {
    if (ended()) {
      failed_ = true;
      return {};
    }
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, bytes_.size() - at_));
    if (end == nullptr) {
      failed_ = true;
      return {};
    }
    at_ += static_cast<std::size_t>(end - begin) + 1;
    return {begin, static_cast<std::size_t>(end - begin)};
  }
  void skip(std::uint64_t size) {
    if (failed_ || size > bytes_.size() - at_)
      failed_ = true;
    else
      at_ += size;
  }
  // The next bytes, for a reader of their own.
  Bytes part(std::uint64_t size) {
    const std::size_t begin = at_;
    skip(size);
    return failed_ ? Bytes() : bytes_.subspan(begin, size);
  }

 private:
  Bytes bytes_;
  std::size_t at_;
  bool failed_ = false;
};

struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0, info = 0;
  Bytes bytes;
};

Bytes inside(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

std::string_view text_at(Bytes strings, std::uint64_t offset) {
  return ByteReader(strings, offset).text();
}

std::vector<Section> sections_of(Bytes file) {
  const auto head = ByteReader(file).number<Elf64_Ehdr>();
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_shentsize < sizeof(Elf64_Shdr))
    return {};
  const Bytes headers = inside(file, head.e_shoff, std::uint64_t{head.e_shentsize} * head.e_shnum);
  if (headers.empty() || head.e_shstrndx >= head.e_shnum) return {};
  const auto header_of = [&](std::size_t i) {
    return ByteReader(headers, i * head.e_shentsize).number<Elf64_Shdr>();
  };
  const Elf64_Shdr names = header_of(head.e_shstrndx);
  std::vector<Section> sections;
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr of = header_of(i);
    sections.push_back({text_at(inside(file, names.sh_offset, names.sh_size), of.sh_name),
                        of.sh_type, of.sh_link, of.sh_info,
                        inside(file, of.sh_offset, of.sh_size)});
  }
  return sections;
}

// Of a section with lines: the function that stands at each address in it, by the address's place.
std::unordered_map<std::uint64_t, std::string> functions_in(const std::vector<Section>& sections,
                                                            std::uint32_t lines) {
  constexpr std::string_view kCode = ".text.";
  std::unordered_map<std::uint64_t, std::string> functions;
  for (const Section& section : sections) {
    if ((section.type != SHT_RELA && section.type != SHT_REL) || section.info != lines ||
        section.link >= sections.size())
      continue;
    const Section& symbols = sections[section.link];
    if (symbols.link >= sections.size()) continue;
    for (ByteReader reader(section.bytes); !reader.ended() && functions.size() < kMostLines;) {
      const auto place = reader.number<Elf64_Rel>();  // Elf64_Rela begins with it
      if (section.type == SHT_RELA) reader.skip(sizeof(Elf64_Rela) - sizeof(Elf64_Rel));
      ByteReader at(symbols.bytes, ELF64_R_SYM(place.r_info) * sizeof(Elf64_Sym));
      const auto symbol = at.number<Elf64_Sym>();
      if (!reader.good() || !at.good()) break;
      std::string_view function;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        function = text_at(sections[symbols.link].bytes, symbol.st_name);
      else if (symbol.st_shndx < sections.size() &&
               sections[symbol.st_shndx].name.starts_with(kCode))
        function = sections[symbol.st_shndx].name.substr(kCode.size());
      if (!function.empty()) functions.emplace(place.r_offset, function);
    }
  }
  return functions;
}

// A unit of .debug_line: files, and a program that says which line each instruction is of. Chapter
// 6.2 of the DWARF standard.
class LineProgram {
 public:
  // `reader`: behind the unit's length. `begin`: the unit's bytes' place in the section.
  LineProgram(Bytes unit, std::size_t begin,
              const std::unordered_map<std::uint64_t, std::string>& functions,
              std::vector<KernelLine>& out)
      : reader_(unit), begin_(begin), functions_(functions), out_(out) {}

  void run() {
    constexpr std::uint16_t kOldest = 2, kNewest = 4, kWithOperations = 4;
    const auto version = reader_.number<std::uint16_t>();
    if (version < kOldest || version > kNewest) return;
    const auto length = reader_.number<std::uint32_t>();
    const std::size_t program = reader_.at() + length;
    reader_.skip(1);  // bytes of an instruction
    if (version >= kWithOperations) reader_.skip(1);
    reader_.skip(1);  // whether lines begin statements
    line_base_ = reader_.number<std::int8_t>();
    line_range_ = reader_.number<std::uint8_t>();
    first_special_ = reader_.number<std::uint8_t>();
    if (line_range_ == 0 || first_special_ == 0) return;
    for (unsigned i = 1; i < first_special_; ++i)
      operands_.push_back(reader_.number<std::uint8_t>());
    read_files();
    if (!reader_.good() || program < reader_.at()) return;
    reader_.skip(program - reader_.at());
    while (!reader_.ended() && out_.size() < kMostLines) step();
  }

 private:
  void read_files() {
    folders_.emplace_back();  // where it was compiled, which nobody says
    for (std::string_view name = reader_.text(); !name.empty(); name = reader_.text())
      folders_.push_back(name);
    for (std::string_view name = reader_.text(); !name.empty(); name = reader_.text()) {
      const std::uint64_t folder = reader_.uleb();
      reader_.uleb();  // time
      reader_.uleb();  // size
      std::string path;
      if (!name.starts_with('/') && folder < folders_.size() && !folders_[folder].empty())
        path = std::string(folders_[folder]) + "/";
      files_.push_back(path.append(name));
    }
  }

  void step() {
    constexpr std::uint8_t kExtended = 0, kCopy = 1, kAdvanceLine = 3, kSetFile = 4,
                           kFixedAdvance = 9;
    const auto what = reader_.number<std::uint8_t>();
    if (what >= first_special_) {
      line_ += static_cast<std::uint64_t>(line_base_ + (what - first_special_) % line_range_);
      row();
    } else if (what == kExtended) {
      extended();
    } else if (what == kCopy) {
      row();
    } else if (what == kAdvanceLine) {
      line_ += static_cast<std::uint64_t>(reader_.sleb());
    } else if (what == kSetFile) {
      file_ = reader_.uleb();
    } else if (what == kFixedAdvance) {
      reader_.skip(2);
    } else {
      for (unsigned i = 0; i < operands_[what - 1u]; ++i) reader_.uleb();
    }
  }

  void extended() {
    constexpr std::uint8_t kEnd = 1, kSetAddress = 2;
    const std::uint64_t size = reader_.uleb();
    const std::size_t begin = reader_.at();
    const Bytes part = reader_.part(size);
    if (part.empty()) return;
    if (part[0] == kSetAddress) {
      const auto function = functions_.find(begin_ + begin + 1);
      function_ = function == functions_.end() ? nullptr : &function->second;
    } else if (part[0] == kEnd) {
      function_ = nullptr;
      file_ = line_ = 1;
    }
  }

  // The first of a function is where it begins.
  void row() {
    if (function_ == nullptr || file_ == 0 || file_ > files_.size() || line_ == 0 ||
        line_ > kLastLine)
      return;
    out_.push_back({*function_, files_[file_ - 1], line_});
    function_ = nullptr;
  }

  ByteReader reader_;
  std::size_t begin_;
  const std::unordered_map<std::uint64_t, std::string>& functions_;
  std::vector<KernelLine>& out_;
  int line_base_ = 0;
  unsigned line_range_ = 0, first_special_ = 0;
  std::vector<std::uint8_t> operands_;  // of the opcodes below the special ones: how many
  std::vector<std::string_view> folders_;
  std::vector<std::string> files_;
  std::uint64_t file_ = 1, line_ = 1;
  const std::string* function_ = nullptr;  // whose first row is to come
};

}  // namespace

std::vector<KernelLine> kernel_lines(std::span<const std::uint8_t> cubin) {
  std::vector<KernelLine> lines;
  const std::vector<Section> sections = sections_of(cubin);
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].name != ".debug_line" || sections[i].bytes.size() > kMostBytes) continue;
    const auto functions = functions_in(sections, i);
    if (functions.empty()) continue;
    for (ByteReader reader(sections[i].bytes); !reader.ended();) {
      const auto length = reader.number<std::uint32_t>();
      const std::size_t begin = reader.at();
      const Bytes unit = reader.part(length);  // of 64-bit DWARF none: nobody has 4 GB of lines
      if (reader.good()) LineProgram(unit, begin, functions, lines).run();
    }
  }
  return lines;
}

std::string shown_line(const KernelLine& line, const std::string& here) {
  std::string_view path = line.file;
  const std::string folder = here.ends_with('/') ? here : here + "/";
  std::optional<std::size_t> begin;
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const auto found = path.rfind(packages);
    if (found != std::string_view::npos) begin = found + packages.size();
  }
  if (!begin && folder.size() > 1 && path.starts_with(folder)) begin = folder.size();
  if (!begin) begin = path.rfind('/') + 1;  // npos + 1 is 0
  return std::string(path.substr(*begin)) + ":" + std::to_string(line.line);
}

}  // namespace gable
