//===- posted_test.cpp - what a rank posts for a collective ---------------===//

#include "runtime/comm/store/posted.h"

#include "test/lib/map_store/map_store.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

TEST(Posted, AnInputThatIsLargerThanAValue) {
  MapStore store;
  std::vector<uint8_t> input(2 * KeyValueStore::largestValue + 17);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<uint8_t>(i % 251);
  Collective send{.kind = CollectiveKind::send,
                  .dtype = DType::u8,
                  .input = input.data(),
                  .count = static_cast<int64_t>(input.size()),
                  .peer = 1};
  ASSERT_TRUE(post(store, "a", send, 0).ok());
  EXPECT_EQ(store.size(), 4u) << "three pieces and the head";
  auto posted = readPosted(store, "a");
  ASSERT_TRUE(posted.ok()) << posted.status().message();
  EXPECT_TRUE(std::ranges::equal(posted->payload, std::as_bytes(std::span(input))));
  ASSERT_TRUE(removePosted(store, "a", *posted).ok());
  EXPECT_EQ(store.size(), 0u);
}

TEST(Posted, OnlyTheRootOfABroadcastHasSomethingToGive) {
  MapStore store;
  float value = 1;
  Collective broadcast{.kind = CollectiveKind::broadcast, .input = &value, .output = &value, .count = 1, .peer = 1};
  ASSERT_TRUE(post(store, "0", broadcast, 0).ok());
  ASSERT_TRUE(post(store, "1", broadcast, 1).ok());
  EXPECT_EQ(readPosted(store, "0")->payload.size(), 0u);
  EXPECT_EQ(readPosted(store, "1")->payload.size(), sizeof(float));
}

TEST(Posted, WhatAnotherVersionHasWritten) {
  MapStore store;
  ASSERT_TRUE(store.set("a", "something else").ok());
  EXPECT_EQ(readPosted(store, "a").status().message(),
            "the store holds what this version of the runtime did not write");
}

TEST(Posted, AStoreThatHasLostAPiece) {
  MapStore store;
  double value = 1;
  Collective sum{.kind = CollectiveKind::allReduce, .dtype = DType::f64, .input = &value, .output = &value, .count = 1};
  ASSERT_TRUE(post(store, "a", sum, 0).ok());
  ASSERT_TRUE(store.set("a/0", "x").ok());
  EXPECT_EQ(readPosted(store, "a").status().message(), "the store holds less than was posted");
}

} // namespace
} // namespace meshplan
