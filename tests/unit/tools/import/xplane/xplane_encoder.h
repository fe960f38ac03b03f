// SPDX-License-Identifier: Apache-2.0
// Writes the messages of XPlane files: fields with their numbers, and what planes hold.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace gable {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
inline std::string number(std::uint32_t field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string data(std::uint32_t field, std::string_view value) {
  return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}
inline std::string real(std::uint32_t field, double value) {
  std::string out = varint(field << 3 | 1);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 64; i += 8) out += static_cast<char>(bits >> i & 255);
  return out;
}
// Fields of every type that no message here has.
inline std::string unknown_fields() {
  return number(60, 0) + real(61, 0) + data(62, std::string(3, '\0')) + varint(63 << 3 | 5) +
         std::string(4, '\0');
}

inline std::string text_stat(std::int64_t id, std::string_view text) {
  return number(1, id) + data(5, text);
}
inline std::string whole_stat(std::int64_t id, std::int64_t value) {
  return number(1, id) + number(3, value);
}

// An event with stats: data(4, text_stat(…)).
inline std::string event(std::int64_t id, std::int64_t offset_ps, std::int64_t duration_ps,
                         const std::string& stats = {}) {
  return data(4, number(1, id) + number(2, offset_ps) + number(3, duration_ps) + stats);
}
// A field of a plane: `events` are those of a line.
inline std::string a_line(std::string_view name, const std::string& events,
                          std::int64_t timestamp_ns = 0, std::int64_t id = 1) {
  return data(3, number(1, id) + data(2, name) + number(3, timestamp_ns) + events);
}
inline std::string name_of(std::int64_t id, std::string_view name, const std::string& stats = {}) {
  return number(1, id) + data(2, number(1, id) + data(2, name) + stats);
}
// Fields of a plane, too.
inline std::string event_name(std::int64_t id, std::string_view name,
                              const std::string& stats = {}) {
  return data(4, name_of(id, name, stats));
}
inline std::string stat_name(std::int64_t id, std::string_view name) {
  return data(5, name_of(id, name));
}
inline std::string a_plane(std::string_view name, const std::string& rest) {
  return data(1, number(1, 3) + data(2, name) + rest);
}

}  // namespace gable
