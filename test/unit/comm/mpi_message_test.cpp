//===- mpi_message_test.cpp - messages to bytes and back ------------------===//

#include "runtime/comm/mpi/message.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

Announcement sample() {
  Announcement announcement;
  announcement.key = {.group = hashBytes({}), .pair = {2, 1}, .number = 77};
  announcement.tag = 41;
  announcement.collective = {.kind = CollectiveKind::allToAll,
                             .dtype = DType::bf16,
                             .reduction = Reduction::max,
                             .count = int64_t(1) << 40,
                             .sendCounts = {1, 0, 3},
                             .receiveCounts = {4},
                             .peer = 2,
                             .label = {.sequence = 12, .origin = "smollm2.plan:12 rowwise tp"}};
  return announcement;
}

TEST(Message, AnnouncementKeepsEverythingButBuffers) {
  Announcement sent = sample();
  int buffer = 0;
  sent.collective.input = &buffer;
  auto decoded = decode(encode(sent));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  const Announcement &taken = std::get<Announcement>(*decoded);
  EXPECT_EQ(taken.key, sent.key);
  EXPECT_EQ(taken.tag, 41);
  EXPECT_EQ(taken.collective.kind, CollectiveKind::allToAll);
  EXPECT_EQ(taken.collective.dtype, DType::bf16);
  EXPECT_EQ(taken.collective.reduction, Reduction::max);
  EXPECT_EQ(taken.collective.input, nullptr);
  EXPECT_EQ(taken.collective.count, int64_t(1) << 40);
  EXPECT_THAT(taken.collective.sendCounts, testing::ElementsAre(1, 0, 3));
  EXPECT_THAT(taken.collective.receiveCounts, testing::ElementsAre(4));
  EXPECT_EQ(taken.collective.peer, 2);
  EXPECT_EQ(taken.collective.label.sequence, 12);
  EXPECT_EQ(taken.collective.label.origin, "smollm2.plan:12 rowwise tp");
}

TEST(Message, AbortKeepsCodeAndText) {
  auto decoded = decode(encode(AbortNotice{Status(StatusCode::peerLost, "rank 3 failed")}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<AbortNotice>(*decoded).cause.code(), StatusCode::peerLost);
  EXPECT_EQ(std::get<AbortNotice>(*decoded).cause.message(), "rank 3 failed");
}

TEST(Message, ThoseWithoutContent) {
  for (const Message &message : {Message(Leaving()), Message(Question()), Message(Answer())}) {
    auto decoded = decode(encode(message));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->index(), message.index());
  }
}

TEST(Message, EveryWrongLengthIsRefused) {
  std::vector<std::byte> bytes = encode(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(decode(std::span(bytes).first(size)).status().code(), StatusCode::corrupted) << size;
  bytes.push_back(std::byte(0));
  EXPECT_EQ(decode(bytes).status().message(),
            "a message of " + std::to_string(bytes.size()) + " bytes with a wrong length");
}

TEST(Message, OtherVersionsAndKindsAreRefused) {
  std::vector<std::byte> bytes = encode(Leaving());
  bytes[1] = std::byte(9);
  EXPECT_EQ(decode(bytes).status().message(), "a message of an unknown kind");
  bytes[0] = std::byte(9);
  EXPECT_EQ(decode(bytes).status().message(), "a message of another version of the runtime");
}

} // namespace
} // namespace meshplan
