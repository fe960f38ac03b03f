// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_message.h"

#include <protozero/pbf_reader.hpp>

namespace gable::xplane {
namespace {

using protozero::pbf_wire_type;

constexpr std::uint32_t is(std::uint32_t field, pbf_wire_type type) {
  return protozero::tag_and_type(field, type);
}

std::string_view view(protozero::pbf_reader& message) {
  const protozero::data_view found = message.get_view();
  return {found.data(), found.size()};
}

// Whatever protozero finds in `message`.
template <typename Read>
void decode(std::string_view message, const MessageStream& in, const Read& read) {
  try {
    protozero::pbf_reader fields(message.data(), message.size());
    while (fields.next()) read(fields);
  } catch (const protozero::exception&) {
    in.broken("a message before this is damaged");
  }
}

}  // namespace

Stat read_stat(std::string_view message, const MessageStream& in) {
  Stat stat;
  decode(message, in, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case is(1, pbf_wire_type::varint):
        stat.id = fields.get_int64();
        return;
      case is(2, pbf_wire_type::fixed64):
        stat.kind = Stat::Kind::real;
        stat.real = fields.get_double();
        return;
      // Numbers with and without a sign have the same bytes.
      case is(3, pbf_wire_type::varint):
      case is(4, pbf_wire_type::varint):
        stat.kind = Stat::Kind::whole;
        stat.whole = fields.get_int64();
        return;
      case is(5, pbf_wire_type::length_delimited):
        stat.kind = Stat::Kind::text;
        stat.text = view(fields);
        return;
      case is(7, pbf_wire_type::varint):
        stat.kind = Stat::Kind::reference;
        stat.reference = fields.get_uint64();
        return;
      default:
        fields.skip();
    }
  });
  return stat;
}

void read_event(std::string_view message, const MessageStream& in, Event& event) {
  event.id = event.offset_ps = event.duration_ps = 0;
  event.has_offset = true;
  event.stats.clear();
  decode(message, in, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case is(1, pbf_wire_type::varint):
        event.id = fields.get_int64();
        return;
      case is(2, pbf_wire_type::varint):
        event.offset_ps = fields.get_int64();
        event.has_offset = true;
        return;
      case is(3, pbf_wire_type::varint):
        event.duration_ps = fields.get_int64();
        return;
      case is(4, pbf_wire_type::length_delimited):
        event.stats.push_back(read_stat(view(fields), in));
        return;
      case is(5, pbf_wire_type::varint):
        event.has_offset = false;
        fields.skip();
        return;
      default:
        fields.skip();
    }
  });
}

Metadata read_metadata(std::string_view entry, const MessageStream& in) {
  Metadata metadata;
  std::string_view value;
  decode(entry, in, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case is(1, pbf_wire_type::varint):
        metadata.id = fields.get_int64();
        return;
      case is(2, pbf_wire_type::length_delimited):
        value = view(fields);
        return;
      default:
        fields.skip();
    }
  });
  decode(value, in, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case is(2, pbf_wire_type::length_delimited):
        metadata.name = view(fields);
        return;
      // Of an event; a stat's metadata has no such field.
      case is(5, pbf_wire_type::length_delimited):
        metadata.stats.push_back(view(fields));
        return;
      default:
        fields.skip();
    }
  });
  return metadata;
}

}  // namespace gable::xplane
