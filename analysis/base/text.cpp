// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace gable {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Decoded {
  std::size_t bytes = 1;
  bool valid = false;
};

bool is_continuation(unsigned char c, unsigned char low = 0x80, unsigned char high = 0xBF) {
  return c >= low && c <= high;
}

// One character at the start of `text` (not empty), or the maximal ill-formed part there (Unicode,
// table 3-7).
Decoded decode(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true};
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    const bool good =
        i < text.size() && (i == 1 ? is_continuation(at(i), low, high) : is_continuation(at(i)));
    if (!good) return {i, false};
  }
  return {length, true};
}

constexpr std::size_t kEndBytes = 160;  // of a name that is too long

// " #9e3779b9": FNV-1a, the same in every run.
std::string number_of(std::string_view name) {
  std::uint32_t hash = 0x811C9DC5;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = " #";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

}  // namespace

bool is_clean_name(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) return false;
  while (!text.empty()) {
    const Decoded character = decode(text);
    if (!character.valid) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string clean_name(std::string_view text, std::size_t max_bytes) {
  if (is_clean_name(text, max_bytes)) return std::string(text);
  std::string out;
  out.reserve(std::min(text.size(), max_bytes) + kReplacement.size());
  std::size_t cut = 0;  // the longest prefix of `out` that leaves room for the ellipsis
  while (!text.empty()) {
    const Decoded character = decode(text);
    out += character.valid ? text.substr(0, character.bytes) : kReplacement;
    text.remove_prefix(character.bytes);
    if (out.size() + kEllipsis.size() <= max_bytes) cut = out.size();
    if (out.size() > max_bytes) return out.substr(0, cut).append(kEllipsis);
  }
  return out;
}

std::string fitting_name(std::string_view name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return clean_name(name, max_bytes);
  std::size_t end = name.size() - kEndBytes;
  while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) ++end;
  const std::string tail = clean_name(name.substr(end), kEndBytes) + number_of(name);
  return clean_name(name.substr(0, max_bytes), max_bytes - tail.size()) + tail;
}

// What libstdc++ itself demangles by, where it is linked statically: allocates nothing. The other
// way takes memory from the program's allocator, which may wait for anything, while we hold the
// profile. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" int __gcclibcxx_demangle_callback(const char*, void (*)(const char*, std::size_t, void*),
                                             void*) __attribute__((weak));

std::string demangled(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;
  if (__gcclibcxx_demangle_callback != nullptr) {
    std::string name;
    const auto add = [](const char* text, std::size_t size, void* out) {
      static_cast<std::string*>(out)->append(text, size);
    };
    const bool known = __gcclibcxx_demangle_callback(symbol.c_str(), add, &name) == 0;
    return known ? name : symbol;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? std::string(name.get()) : symbol;
}

}  // namespace gable
