//===- message.cpp - what ranks tell each other besides data --------------===//

#include "runtime/comm/mpi/message.h"

#include <cstring>
#include <type_traits>

namespace meshplan {

namespace {

// First byte of every message; another number is another version of the runtime.
constexpr uint8_t version = 1;

class Writer {
public:
  std::vector<std::byte> bytes;

  template <typename T> void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof(value));
  }
  void putText(std::string_view text) {
    put(static_cast<int64_t>(text.size()));
    append(text.data(), text.size());
  }
  void putCounts(std::span<const int64_t> counts) {
    put(static_cast<int64_t>(counts.size()));
    append(counts.data(), counts.size_bytes());
  }

private:
  void append(const void *data, size_t size) {
    const std::byte *begin = static_cast<const std::byte *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
};

/// Reads what Writer wrote. After the first wrong length everything is zero and `failed` is set.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest(bytes) {}

  template <typename T> T take() {
    T value{};
    copy(&value, sizeof(value));
    return value;
  }
  std::string takeText() {
    std::string text(takeLength(1), '\0');
    copy(text.data(), text.size());
    return text;
  }
  std::vector<int64_t> takeCounts() {
    std::vector<int64_t> counts(takeLength(sizeof(int64_t)));
    copy(counts.data(), counts.size() * sizeof(int64_t));
    return counts;
  }
  bool complete() const { return !failed && rest.empty(); }

private:
  size_t takeLength(size_t elementSize) {
    int64_t length = take<int64_t>();
    if (length >= 0 && static_cast<uint64_t>(length) <= rest.size() / elementSize)
      return static_cast<size_t>(length);
    failed = true;
    return 0;
  }
  void copy(void *target, size_t size) {
    failed |= size > rest.size();
    if (failed || size == 0)
      return;
    std::memcpy(target, rest.data(), size);
    rest = rest.subspan(size);
  }

  std::span<const std::byte> rest;
  bool failed = false;
};

void write(Writer &writer, const Announcement &announcement) {
  writer.put(announcement.key.group);
  writer.put(announcement.key.pair.first);
  writer.put(announcement.key.pair.second);
  writer.put(announcement.key.number);
  writer.put(announcement.tag);
  const Collective &collective = announcement.collective;
  writer.put(collective.kind);
  writer.put(collective.dtype);
  writer.put(collective.reduction);
  writer.put(collective.count);
  writer.putCounts(collective.sendCounts);
  writer.putCounts(collective.receiveCounts);
  writer.put(collective.peer);
  writer.put(collective.label.sequence);
  writer.putText(collective.label.origin);
}

Announcement readAnnouncement(Reader &reader) {
  Announcement announcement;
  announcement.key.group = reader.take<Hash>();
  announcement.key.pair.first = reader.take<int64_t>();
  announcement.key.pair.second = reader.take<int64_t>();
  announcement.key.number = reader.take<int64_t>();
  announcement.tag = reader.take<int64_t>();
  Collective &collective = announcement.collective;
  collective.kind = reader.take<CollectiveKind>();
  collective.dtype = reader.take<DType>();
  collective.reduction = reader.take<Reduction>();
  collective.count = reader.take<int64_t>();
  collective.sendCounts = reader.takeCounts();
  collective.receiveCounts = reader.takeCounts();
  collective.peer = reader.take<int64_t>();
  collective.label.sequence = reader.take<int64_t>();
  collective.label.origin = reader.takeText();
  return announcement;
}

void write(Writer &writer, const AbortNotice &notice) {
  writer.put(notice.cause.code());
  writer.putText(notice.cause.message());
}

AbortNotice readAbort(Reader &reader) {
  StatusCode code = reader.take<StatusCode>();
  std::string text = reader.takeText();
  return {Status(code == StatusCode::ok ? StatusCode::aborted : code, std::move(text))};
}

void write(Writer &, const auto &) {} // the others have no content

} // namespace

std::vector<std::byte> encode(const Message &message) {
  Writer writer;
  writer.put(version);
  writer.put(static_cast<uint8_t>(message.index()));
  std::visit([&](const auto &content) { write(writer, content); }, message);
  return std::move(writer.bytes);
}

Expected<Message> decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (reader.take<uint8_t>() != version)
    return Status(StatusCode::corrupted, "a message of another version of the runtime");
  Message message;
  switch (reader.take<uint8_t>()) {
  case 0:
    message = readAnnouncement(reader);
    break;
  case 1:
    message = readAbort(reader);
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
  if (!reader.complete())
    return Status::error(StatusCode::corrupted, "a message of ", bytes.size(), " bytes with a wrong length");
  return message;
}

} // namespace meshplan
