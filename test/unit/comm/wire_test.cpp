//===- wire_test.cpp - messages between ranks, as bytes -------------------===//

#include "runtime/comm/wire.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

TEST(Wire, ACollectiveComesBack) {
  Collective collective{.kind = CollectiveKind::allToAll,
                        .dtype = DType::bf16,
                        .reduction = Reduction::min,
                        .count = 7,
                        .sendCounts = {1, 2, 3},
                        .receiveCounts = {4, 0},
                        .peer = 5,
                        .label = {.sequence = 12, .origin = "a.plan:3"}};
  WireWriter writer;
  writer.putCollective(collective);
  writer.put(int64_t(99));
  std::vector<std::byte> bytes = writer.take();
  WireReader reader(bytes);
  Collective read = reader.takeCollective();
  EXPECT_EQ(reader.take<int64_t>(), 99);
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(describe(read, "g"), describe(collective, "g"));
  EXPECT_EQ(read.dtype, collective.dtype);
  EXPECT_EQ(read.reduction, collective.reduction);
  EXPECT_EQ(read.count, 7);
  EXPECT_EQ(read.sendCounts, collective.sendCounts);
  EXPECT_EQ(read.receiveCounts, collective.receiveCounts);
  EXPECT_EQ(read.peer, 5);
}

TEST(Wire, EnumeratorsThatDoNotExist) {
  WireWriter writer;
  writer.putCollective(
      {.kind = CollectiveKind::receive, .dtype = DType::boolean, .reduction = Reduction::min, .count = 7});
  const std::vector<std::byte> bytes = writer.take();
  auto isRead = [&](size_t place, int value) {
    std::vector<std::byte> changed = bytes;
    changed[place] = std::byte(value);
    WireReader reader(changed);
    Collective read = reader.takeCollective();
    EXPECT_EQ(read.count, reader.complete() ? 7 : 0);
    return reader.complete();
  };
  const int enumerators[] = {9, 10, 3}; // of kinds, types and reductions, each one byte
  for (size_t place = 0; place < 3; ++place)
    for (int value = 0; value < 256; ++value)
      EXPECT_EQ(isRead(place, value), value < enumerators[place]) << place;
}

TEST(Wire, AnUnknownFailureIsOne) {
  WireWriter writer;
  writer.put(uint8_t(200));
  writer.putText("of another version");
  std::vector<std::byte> bytes = writer.take();
  Status read = WireReader(bytes).takeStatus();
  EXPECT_EQ(read.code(), StatusCode::aborted);
  EXPECT_EQ(read.message(), "of another version");
}

TEST(Wire, AFailureStaysOne) {
  for (const Status &status : {Status(StatusCode::timeout, "late"), Status()}) {
    WireWriter writer;
    writer.putStatus(status);
    std::vector<std::byte> bytes = writer.take();
    Status read = WireReader(bytes).takeStatus();
    EXPECT_EQ(read.code(), status.ok() ? StatusCode::aborted : StatusCode::timeout);
    EXPECT_EQ(read.message(), status.message());
  }
}

TEST(Wire, BytesThatAreMissing) {
  WireWriter writer;
  writer.putText("some text");
  writer.putCounts(std::vector<int64_t>{1, 2});
  std::vector<std::byte> bytes = writer.take();
  for (size_t size = 0; size < bytes.size(); ++size) {
    WireReader reader({bytes.data(), size});
    (void)reader.takeText();
    (void)reader.takeCounts();
    EXPECT_FALSE(reader.complete()) << size;
  }
}

TEST(Wire, BehindMissingBytesNothingIsRead) {
  WireWriter writer;
  writer.put(int32_t(5));
  writer.put(int8_t(6));
  std::vector<std::byte> bytes = writer.take();
  WireReader reader(bytes);
  EXPECT_EQ(reader.take<int32_t>(), 5);
  EXPECT_EQ(reader.take<int64_t>(), 0) << "one byte is left";
  EXPECT_EQ(reader.take<int8_t>(), 0) << "which belongs to something else";
  EXPECT_FALSE(reader.complete());
}

TEST(Wire, LengthsThatTheBytesCannotHave) {
  // A 64-bit length, followed by 16 bytes: two counts, or a text of 16.
  struct {
    int64_t length;
    bool areCounts, isText;
  } cases[] = {{-1, false, false},
               {0, false, false},
               {2, true, false},
               {3, false, false},
               {16, false, true},
               {17, false, false},
               {INT64_MAX, false, false},
               {INT64_MIN, false, false},
               // Eight bytes times this length is 16 again, modulo 2^64.
               {(int64_t(1) << 61) + 2, false, false}};
  for (auto [length, areCounts, isText] : cases) {
    WireWriter writer;
    writer.put(length);
    writer.put(int64_t(7));
    writer.put(int64_t(8));
    std::vector<std::byte> bytes = writer.take();
    WireReader counts(bytes), text(bytes);
    EXPECT_EQ(counts.takeCounts(), areCounts ? (std::vector<int64_t>{7, 8}) : std::vector<int64_t>()) << length;
    EXPECT_EQ(counts.complete(), areCounts) << length;
    EXPECT_EQ(text.takeText().size(), isText ? 16u : length == 2 || length == 3 ? size_t(length) : 0u) << length;
    EXPECT_EQ(text.complete(), isText) << length;
  }
}

TEST(GroupNames, AreTheSameForTheSameGroupsInTheSameOrder) {
  GroupNames first, second;
  Hash twin = first.next("tp", {0, 1});
  EXPECT_EQ(second.next("tp", {0, 1}), twin);
  EXPECT_NE(first.next("tp", {0, 1}), twin) << "another group of the same ranks";
  EXPECT_NE(first.next("tp", {1, 0}), twin);
  EXPECT_NE(first.next("dp", {0, 1}), twin);
}

} // namespace
} // namespace meshplan
