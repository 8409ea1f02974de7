//===- message.cpp - control messages between ranks -----------------------===//

#include "runtime/comm/mpi/message.h"

#include "runtime/comm/wire.h"

namespace meshplan {

namespace {

// First byte of every message. Another value means another version of the runtime.
constexpr uint8_t version = 1;

void write(WireWriter &writer, const Announcement &announcement) {
  writer.put(announcement.key.group);
  writer.put(announcement.key.pair.first);
  writer.put(announcement.key.pair.second);
  writer.put(announcement.key.number);
  writer.put(announcement.tag);
  writer.putCollective(announcement.collective);
}

Announcement readAnnouncement(WireReader &reader) {
  Announcement announcement;
  announcement.key.group = reader.take<Hash>();
  announcement.key.pair.first = reader.take<int64_t>();
  announcement.key.pair.second = reader.take<int64_t>();
  announcement.key.number = reader.take<int64_t>();
  announcement.tag = reader.take<int64_t>();
  announcement.collective = reader.takeCollective();
  return announcement;
}

void write(WireWriter &writer, const AbortNotice &notice) { writer.putStatus(notice.cause); }

void write(WireWriter &, const auto &) {} // the other messages have no content

} // namespace

std::vector<std::byte> encode(const Message &message) {
  WireWriter writer;
  writer.put(version);
  // The kind is the index in the variant; decode must list the kinds in the same order.
  writer.put(static_cast<uint8_t>(message.index()));
  std::visit([&](const auto &content) { write(writer, content); }, message);
  return writer.take();
}

Expected<Message> decode(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  // First of all, since only this byte has the same meaning in every version.
  if (reader.take<uint8_t>() != version)
    return Status(StatusCode::corrupted, "a message of another version of the runtime");
  Message message;
  switch (reader.take<uint8_t>()) {
  case 0:
    message = readAnnouncement(reader);
    break;
  case 1:
    message = AbortNotice{reader.takeStatus()};
    break;
  case 2:
    message = Leaving();
    break;
  case 3:
    message = Question();
    break;
  case 4:
    message = Answer();
    break;
  default:
    return Status(StatusCode::corrupted, "a message of an unknown kind");
  }
  // Truncated or trailing bytes mean a faulty sender, so the message is rejected as a whole.
  if (!reader.complete())
    return Status::error(StatusCode::corrupted, "a message of ", bytes.size(), " bytes with a wrong length");
  return message;
}

} // namespace meshplan
