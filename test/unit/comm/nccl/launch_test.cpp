//===- launch_test.cpp - which calls a collective becomes -----------------===//

#include "runtime/comm/nccl/launch.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

/// The calls of the test that runs.
std::vector<std::string> &calls() {
  static std::vector<std::string> names;
  return names;
}

ncclResult_t note(const char *name, size_t count, int peer = -1) {
  calls().push_back(std::string(name) + " " + std::to_string(count) + (peer < 0 ? "" : " " + std::to_string(peer)));
  return ncclSuccess;
}

NcclApi notingApi() {
  NcclApi api = {};
  api.groupStart = [] { return note("{", 0); };
  api.groupEnd = [] { return note("}", 0); };
  api.allReduce = [](const void *, void *, size_t count, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t) {
    return note("all-reduce", count);
  };
  api.allGather = [](const void *, void *, size_t count, ncclDataType_t, ncclComm_t, cudaStream_t) {
    return note("all-gather", count);
  };
  api.reduceScatter = [](const void *, void *, size_t count, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t) {
    return note("reduce-scatter", count);
  };
  api.broadcast = [](const void *, void *, size_t count, ncclDataType_t, int root, ncclComm_t, cudaStream_t) {
    return note("broadcast", count, root);
  };
  api.reduce = [](const void *, void *, size_t count, ncclDataType_t, ncclRedOp_t, int root, ncclComm_t, cudaStream_t) {
    return note("reduce", count, root);
  };
  api.send = [](const void *, size_t count, ncclDataType_t, int peer, ncclComm_t, cudaStream_t) {
    return note("send", count, peer);
  };
  api.recv = [](void *, size_t count, ncclDataType_t, int peer, ncclComm_t, cudaStream_t) {
    return note("receive", count, peer);
  };
  return api;
}

std::vector<std::string> callsOf(const Collective &collective, const NcclApi &api = notingApi()) {
  calls().clear();
  EXPECT_EQ(launch({api, nullptr, nullptr, 3, 1}, collective), ncclSuccess);
  EXPECT_EQ(calls().front(), "{ 0");
  EXPECT_EQ(calls().back(), "} 0");
  return {calls().begin() + 1, calls().end() - 1};
}

TEST(Launch, EqualPiecesAreNativeCalls) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allReduce, .count = 7}), ElementsAre("all-reduce 7"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .receiveCounts = {4, 4, 4}}), ElementsAre("all-gather 4"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::reduceScatter, .sendCounts = {4, 4, 4}}),
              ElementsAre("reduce-scatter 4"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::broadcast, .count = 5, .peer = 2}), ElementsAre("broadcast 5 2"));
}

TEST(Launch, UnevenPiecesAreAGroup) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .receiveCounts = {4, 0, 3}}),
              ElementsAre("broadcast 4 0", "broadcast 3 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::reduceScatter, .sendCounts = {0, 2, 3}}),
              ElementsAre("reduce 2 1", "reduce 3 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allToAll, .sendCounts = {1, 2, 0}, .receiveCounts = {0, 2, 5}}),
              ElementsAre("send 1 0", "send 2 1", "receive 2 1", "receive 5 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::permute, .sendCounts = {0, 0, 6}, .receiveCounts = {0, 0, 0}}),
              ElementsAre("send 6 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::send, .count = 8, .peer = 0}), ElementsAre("send 8 0"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::receive, .count = 8, .peer = 2}), ElementsAre("receive 8 2"));
}

TEST(Launch, WhatNcclLacksIsMovedAsBytes) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .dtype = DType::i16, .receiveCounts = {4, 4, 4}}),
              ElementsAre("all-gather 8"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::broadcast, .dtype = DType::boolean, .count = 4, .peer = 0}),
              ElementsAre("broadcast 4 0"));
}

TEST(Launch, AFailedCallEndsTheGroup) {
  NcclApi api = notingApi();
  api.send = [](const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) { return ncclSystemError; };
  calls().clear();
  Collective collective{.kind = CollectiveKind::allToAll, .sendCounts = {1, 0, 1}, .receiveCounts = {1, 0, 1}};
  EXPECT_EQ(launch({api, nullptr, nullptr, 3, 1}, collective), ncclSystemError);
  EXPECT_THAT(calls(), ElementsAre("{ 0", "receive 1 0", "receive 1 2", "} 0"));
}

TEST(CheckReduction, NamesWhatIsRefused) {
  auto check = [](CollectiveKind kind, DType dtype, Reduction reduction) {
    return checkReduction({.kind = kind, .dtype = dtype, .reduction = reduction});
  };
  EXPECT_EQ(check(CollectiveKind::allReduce, DType::i16, Reduction::sum).message(), "NCCL does not reduce i16");
  EXPECT_EQ(check(CollectiveKind::reduceScatter, DType::bf16, Reduction::max).message(),
            "NCCL's max and min of bf16 drop NaN");
  EXPECT_TRUE(check(CollectiveKind::allReduce, DType::boolean, Reduction::max).ok());
  EXPECT_TRUE(check(CollectiveKind::allReduce, DType::f16, Reduction::sum).ok());
  EXPECT_TRUE(check(CollectiveKind::allGather, DType::i16, Reduction::max).ok()) << "nothing is reduced";
}

} // namespace
} // namespace meshplan
