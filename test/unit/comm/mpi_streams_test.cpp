//===- mpi_streams_test.cpp - bytes that a process sends to itself --------===//

#include "runtime/comm/mpi/streams.h"

#include <chrono>
#include <gmock/gmock.h>
#include <map>

namespace meshplan {
namespace {

constexpr int64_t self = 0;

std::vector<std::byte> bytesOf(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

class TransportTest : public testing::Test {
protected:
  TransportTest() {
    MPI_Comm_dup(MPI_COMM_SELF, &communicator);
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    transport.emplace(communicator);
  }
  ~TransportTest() override {
    transport.reset();
    MPI_Comm_free(&communicator);
  }

  Expected<bool> poll() {
    return transport->poll([this](int64_t from, std::span<const std::byte> bytes) {
      messages.push_back(std::to_string(from) + ": " + textOf(bytes));
      return handled;
    });
  }

  /// Polls until the condition holds; fails after a very long time.
  template <typename Condition> void pollUntil(const Condition &condition) {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      ASSERT_TRUE(poll().ok());
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }
  void pollUntilIdle() {
    pollUntil([&] { return transport->idle(); });
  }
  /// Polls long enough for an event that should not happen.
  void pollOften() {
    for (int i = 0; i < 2000; ++i)
      ASSERT_TRUE(poll().ok());
  }

  Buffer filled(std::string_view text) {
    Buffer buffer = transport->allocate(static_cast<int64_t>(text.size()));
    std::ranges::copy(bytesOf(text), buffer.data());
    return buffer;
  }
  void send(int64_t tag, std::string_view text) {
    ASSERT_TRUE(transport->send(self, tag, filled(text), [] { return Status(); }).ok());
  }
  void receive(int64_t tag, int64_t size) {
    Status status = transport->receive(self, tag, size, [this, tag](Buffer buffer) {
      received[tag].push_back(textOf(buffer.bytes()));
      return Status();
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }

  MPI_Comm communicator = MPI_COMM_NULL;
  std::optional<Transport> transport;
  Status handled; // the status of the message handler
  std::vector<std::string> messages;
  std::map<int64_t, std::vector<std::string>> received; // by tag
};

TEST_F(TransportTest, KnowsItsCommunicator) {
  EXPECT_EQ(transport->rank(), 0);
  EXPECT_EQ(transport->size(), 1);
  EXPECT_GE(transport->lastTag(), 32767) << "what MPI promises";
  EXPECT_TRUE(transport->idle());
}

TEST_F(TransportTest, MessagesOfAnyLengthComeInOrder) {
  const std::string texts[] = {"one", "", std::string(1 << 20, 'x'), "four"};
  for (const std::string &text : texts)
    ASSERT_TRUE(transport->sendMessage(self, bytesOf(text)).ok());
  EXPECT_EQ(transport->openMessages(), 4);
  EXPECT_FALSE(transport->idle());
  pollUntil([&] { return messages.size() == 4 && transport->openMessages() == 0; });
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(messages[i], "0: " + texts[i]);
  EXPECT_TRUE(transport->idle());
}

TEST_F(TransportTest, PollSaysWhetherAnythingHasEnded) {
  auto nothing = poll();
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(*nothing);
  receive(1, 4);
  auto waiting = poll();
  ASSERT_TRUE(waiting.ok());
  EXPECT_FALSE(*waiting) << "it was requested, and not sent";
  EXPECT_FALSE(transport->idle());
  send(1, "data");
  bool any = false;
  pollUntil([&] {
    auto polled = poll();
    any |= polled.ok() && *polled;
    return transport->idle();
  });
  EXPECT_TRUE(any);
  EXPECT_THAT(received[1], testing::ElementsAre("data"));
  EXPECT_EQ(transport->openMessages(), 0) << "data is not a message";
}

TEST_F(TransportTest, DataOfATagStaysInOrder) {
  send(1, "a");
  send(2, "other");
  send(1, "b");
  receive(1, 1);
  receive(1, 1);
  receive(2, 5);
  pollUntilIdle();
  EXPECT_THAT(received[1], testing::ElementsAre("a", "b"));
  EXPECT_THAT(received[2], testing::ElementsAre("other"));
}

TEST_F(TransportTest, AHandlerMaySendAndAsk) {
  receive(2, 5);
  Status status = transport->receive(self, 1, 4, [this](Buffer buffer) {
    return transport->send(self, 2, filled(textOf(buffer.bytes()) + "!"), [] { return Status(); });
  });
  ASSERT_TRUE(status.ok());
  send(1, "data");
  pollUntilIdle();
  EXPECT_THAT(received[2], testing::ElementsAre("data!"));
}

TEST_F(TransportTest, AFailureOfAHandlerEndsThePoll) {
  ASSERT_TRUE(transport->sendMessage(self, bytesOf("bad")).ok());
  handled = Status(StatusCode::corrupted, "no message");
  Status failure;
  for (auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       failure.ok() && std::chrono::steady_clock::now() < end;)
    failure = poll().status();
  EXPECT_EQ(failure.message(), "no message");
  handled = Status();
  pollUntilIdle();
  ASSERT_TRUE(transport->receive(self, 1, 1, [](Buffer) { return Status(StatusCode::internal, "no data"); }).ok());
  send(1, "x");
  for (failure = Status(); failure.ok() && !transport->idle();)
    failure = poll().status();
  EXPECT_EQ(failure.message(), "no data");
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Bytes in transit from `source` to `target`.
class StreamsTest : public TransportTest {
protected:
  void prepare(int64_t total, int64_t available) {
    source.resize(static_cast<size_t>(total));
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::byte>(i % 251);
    target.assign(source.size(), std::byte(0xff));
    out.emplace(end(), source.data(), total, available, [this] {
      ++moves;
      return Status();
    });
    in.emplace(end(), total, [this](int64_t offset, Buffer chunk) {
      std::ranges::copy(chunk.bytes(), target.begin() + offset);
      ++chunks;
      return keeps ? Status() : in->release(chunk.size());
    });
  }
  StreamEnd end() { return {*transport, owner, self, 7}; }
  void pumpBoth() {
    ASSERT_TRUE(in->pump().ok());
    ASSERT_TRUE(out->pump().ok());
  }

  std::shared_ptr<void> owner = std::make_shared<int>();
  std::vector<std::byte> source, target;
  std::optional<OutStream> out;
  std::optional<InStream> in;
  bool keeps = false; ///< chunks are not done with when they arrive
  int moves = 0, chunks = 0;
};

TEST_F(StreamsTest, AnyNumberOfBytesArrives) {
  for (int64_t total : {int64_t(0), int64_t(1), chunkBytes - 1, chunkBytes, chunkBytes + 1, 5 * chunkBytes + 7}) {
    moves = chunks = 0;
    prepare(total, total);
    pumpBoth();
    pollUntil([&] { return in->done() && out->done() && transport->idle(); });
    EXPECT_EQ(target, source) << total;
    EXPECT_EQ(chunks, (total + chunkBytes - 1) / chunkBytes);
    EXPECT_EQ(moves, chunks);
  }
}

TEST_F(StreamsTest, OnlyAWindowIsOnItsWay) {
  prepare(5 * chunkBytes, 5 * chunkBytes);
  ASSERT_TRUE(out->pump().ok());
  EXPECT_EQ(moves, chunkWindow);
  ASSERT_TRUE(out->pump().ok());
  EXPECT_EQ(moves, chunkWindow) << "asking again sends no more";
  EXPECT_FALSE(out->done());
  ASSERT_TRUE(in->pump().ok());
  pollUntilIdle();
  EXPECT_TRUE(out->done());
  EXPECT_EQ(target, source);
}

TEST_F(StreamsTest, ChunksThatAreNotDoneWithHoldBackOthers) {
  keeps = true;
  prepare(5 * chunkBytes, 5 * chunkBytes);
  pumpBoth();
  pollUntil([&] { return chunks == chunkWindow; });
  pollOften();
  EXPECT_EQ(chunks, chunkWindow);
  EXPECT_FALSE(in->done());
  ASSERT_TRUE(in->release(chunkBytes).ok());
  pollUntil([&] { return chunks == chunkWindow + 1; });
  pollOften();
  EXPECT_EQ(chunks, chunkWindow + 1) << "one for one";
  ASSERT_TRUE(in->release(2 * chunkBytes).ok());
  pollUntilIdle();
  EXPECT_EQ(chunks, 5);
  EXPECT_FALSE(in->done()) << "the last two are kept";
  ASSERT_TRUE(in->release(2 * chunkBytes).ok());
  EXPECT_TRUE(in->done());
  EXPECT_EQ(target, source);
}

TEST_F(StreamsTest, WhatIsNotAllowedYetIsNotSent) {
  // As for the result of a reduction, which is computed chunk by chunk.
  prepare(2 * chunkBytes + 5, 0);
  pumpBoth();
  EXPECT_EQ(moves, 0);
  ASSERT_TRUE(out->allow(chunkBytes).ok());
  EXPECT_EQ(moves, 1);
  pollUntil([&] { return chunks == 1; });
  EXPECT_FALSE(out->done());
  ASSERT_TRUE(out->allow(2 * chunkBytes + 5).ok());
  pollUntil([&] { return in->done() && transport->idle(); });
  EXPECT_EQ(moves, 3);
  EXPECT_TRUE(out->done());
  EXPECT_EQ(target, source);
}

TEST_F(StreamsTest, CancelledStreamsTouchNothing) {
  prepare(5 * chunkBytes, 5 * chunkBytes);
  pumpBoth();
  int begun = moves;
  out->cancel();
  in->cancel();
  pollUntilIdle();
  EXPECT_EQ(moves, begun) << "no more is read";
  EXPECT_EQ(chunks, 0) << "and nothing is written";
  EXPECT_EQ(target, std::vector<std::byte>(source.size(), std::byte(0xff)));
  ASSERT_TRUE(out->allow(5 * chunkBytes).ok());
  ASSERT_TRUE(in->pump().ok());
  EXPECT_TRUE(transport->idle());
}

TEST_F(StreamsTest, TheOwnerStaysWhileChunksAreOnTheirWay) {
  prepare(1, 1);
  pumpBoth();
  std::weak_ptr<void> watched = owner;
  owner.reset();
  EXPECT_FALSE(watched.expired()) << "the handlers of the chunks use the streams, which are its parts";
  pollUntilIdle();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(target, source);
}

} // namespace
} // namespace meshplan
