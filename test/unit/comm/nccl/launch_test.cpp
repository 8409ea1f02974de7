//===- launch_test.cpp - the NCCL calls of a collective -------------------===//

#include "runtime/comm/nccl/launch.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

/// In the group of three.
constexpr int rank = 1;

/// The calls of the running test.
std::vector<std::string> &calls() {
  static std::vector<std::string> names;
  return names;
}

/// Buffers that nothing reads.
const auto *inputs = reinterpret_cast<const std::byte *>(0x10000);
auto *outputs = reinterpret_cast<std::byte *>(0x20000);

std::string typeName(ncclDataType_t type) {
  return type == ncclFloat32 ? "f32" : type == ncclBfloat16 ? "bf16" : type == ncclUint8 ? "u8" : "other";
}

std::string operationName(ncclRedOp_t operation) {
  return operation == ncclSum ? " sum" : operation == ncclMax ? " max" : " min";
}

ncclResult_t note(const std::string &call) {
  calls().push_back(call);
  return ncclSuccess;
}

/// The name, the number of elements, and the locations of input and output as bytes from the start of the buffers.
std::string call(const std::string &name, size_t count, ncclDataType_t type, const void *input, const void *output) {
  std::string text = name + " " + std::to_string(count) + " " + typeName(type);
  if (input != nullptr)
    text += " from " + std::to_string(static_cast<const std::byte *>(input) - inputs);
  if (output != nullptr)
    text += " to " + std::to_string(static_cast<const std::byte *>(output) - outputs);
  return text;
}

NcclApi notingApi() {
  NcclApi api = {};
  api.groupStart = [] { return note("{"); };
  api.groupEnd = [] { return note("}"); };
  api.allReduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                     ncclComm_t, cudaStream_t) {
    return note(call("all-reduce", count, type, input, output) + operationName(operation));
  };
  api.allGather = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclComm_t, cudaStream_t) {
    return note(call("all-gather", count, type, input, output));
  };
  api.reduceScatter = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                         ncclComm_t, cudaStream_t) {
    return note(call("reduce-scatter", count, type, input, output) + operationName(operation));
  };
  api.broadcast = [](const void *input, void *output, size_t count, ncclDataType_t type, int root, ncclComm_t,
                     cudaStream_t) {
    // Ranks other than the root read nothing.
    const void *read = root == rank ? input : nullptr;
    return note(call("broadcast", count, type, read, output) + " root " + std::to_string(root));
  };
  api.reduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
                  ncclComm_t, cudaStream_t) {
    const void *written = root == rank ? output : nullptr;
    return note(call("reduce", count, type, input, written) + operationName(operation) + " root " +
                std::to_string(root));
  };
  api.send = [](const void *input, size_t count, ncclDataType_t type, int peer, ncclComm_t, cudaStream_t) {
    return note(call("send", count, type, input, nullptr) + " peer " + std::to_string(peer));
  };
  api.recv = [](void *output, size_t count, ncclDataType_t type, int peer, ncclComm_t, cudaStream_t) {
    return note(call("receive", count, type, nullptr, output) + " peer " + std::to_string(peer));
  };
  return api;
}

std::vector<std::string> callsOf(Collective collective, const NcclApi &api = notingApi()) {
  calls().clear();
  collective.input = inputs;
  collective.output = outputs;
  EXPECT_EQ(launch({api, nullptr, nullptr, 3, rank}, collective), ncclSuccess);
  EXPECT_EQ(calls().front(), "{");
  EXPECT_EQ(calls().back(), "}");
  return {calls().begin() + 1, calls().end() - 1};
}

TEST(Launch, EqualPiecesAreNativeCalls) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allReduce, .count = 7}),
              ElementsAre("all-reduce 7 f32 from 0 to 0 sum"));
  EXPECT_THAT(
      callsOf({.kind = CollectiveKind::allReduce, .dtype = DType::boolean, .reduction = Reduction::max, .count = 7}),
      ElementsAre("all-reduce 7 u8 from 0 to 0 max"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .receiveCounts = {4, 4, 4}}),
              ElementsAre("all-gather 4 f32 from 0 to 0"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::reduceScatter, .dtype = DType::bf16, .sendCounts = {4, 4, 4}}),
              ElementsAre("reduce-scatter 4 bf16 from 0 to 0 sum"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::broadcast, .count = 5, .peer = 2}),
              ElementsAre("broadcast 5 f32 to 0 root 2"));
}

TEST(Launch, UnevenPiecesAreAGroup) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .receiveCounts = {4, 2, 3}}),
              ElementsAre("broadcast 4 f32 to 0 root 0", "broadcast 2 f32 from 0 to 16 root 1",
                          "broadcast 3 f32 to 24 root 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .receiveCounts = {4, 0, 3}}),
              ElementsAre("broadcast 4 f32 to 0 root 0", "broadcast 3 f32 to 16 root 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::reduceScatter, .sendCounts = {0, 2, 3}}),
              ElementsAre("reduce 2 f32 from 0 to 0 sum root 1", "reduce 3 f32 from 8 sum root 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allToAll, .sendCounts = {1, 2, 0}, .receiveCounts = {0, 2, 5}}),
              ElementsAre("send 1 f32 from 0 peer 0", "send 2 f32 from 4 peer 1", "receive 2 f32 to 0 peer 1",
                          "receive 5 f32 to 8 peer 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::permute, .sendCounts = {0, 0, 6}, .receiveCounts = {0, 0, 0}}),
              ElementsAre("send 6 f32 from 0 peer 2"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::send, .count = 8, .peer = 0}), ElementsAre("send 8 f32 from 0 peer 0"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::receive, .count = 8, .peer = 2}),
              ElementsAre("receive 8 f32 to 0 peer 2"));
}

TEST(Launch, WhatNcclLacksIsMovedAsBytes) {
  EXPECT_THAT(callsOf({.kind = CollectiveKind::allGather, .dtype = DType::i16, .receiveCounts = {4, 4, 4}}),
              ElementsAre("all-gather 8 u8 from 0 to 0"));
  EXPECT_THAT(callsOf({.kind = CollectiveKind::broadcast, .dtype = DType::boolean, .count = 4, .peer = 0}),
              ElementsAre("broadcast 4 u8 to 0 root 0"));
}

TEST(Launch, AFailedCallEndsTheGroup) {
  NcclApi api = notingApi();
  api.send = [](const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) { return ncclSystemError; };
  calls().clear();
  Collective collective{
      .kind = CollectiveKind::allToAll, .output = outputs, .sendCounts = {1, 0, 1}, .receiveCounts = {1, 0, 1}};
  EXPECT_EQ(launch({api, nullptr, nullptr, 3, rank}, collective), ncclSystemError);
  EXPECT_THAT(calls(), ElementsAre("{", "receive 1 f32 to 0 peer 0", "receive 1 f32 to 4 peer 2", "}"));
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
