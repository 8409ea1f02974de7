//===- traffic_test.cpp - bytes that ranks exchange on a ring -------------===//

#include "compiler/report/traffic.h"
#include "test/unit/target/sched_module.h"

using namespace meshplan;

/// Bytes of a collective over the three ranks of tp.
static int64_t bytesOf(const std::string &step, const std::string &from, const std::string &to) {
  SchedModule owner(schedCollective(step, from, to));
  int64_t bytes = -1;
  owner.get().walk([&](sched::StartOp start) { bytes = trafficBytes(start, 3); });
  return bytes;
}

TEST(Traffic, CountsBothDirectionsAndRoundsDown) {
  EXPECT_EQ(trafficBytes(300), 600);
  EXPECT_EQ(trafficBytes(20. / 3), 13); // 13.3
}

TEST(Traffic, FollowsTheRingFormulas) {
  // 12 x 10 floats are 480 bytes in total, 160 on each of 3 ranks.
  EXPECT_EQ(bytesOf("all_gather %x dim 0 over @tp", "[12 over {1:(1)3}, 10], f32", "[12, 10], f32"), 2 * 320);
  EXPECT_EQ(bytesOf("reduce_scatter %x dim 0 over @tp", "[12, 10], f32, partial = sum {1:(1)3}",
                    "[12 over {1:(1)3}, 10], f32"),
            2 * 320);
  EXPECT_EQ(bytesOf("all_reduce %x over @tp", "[12, 10], f32, partial = sum {1:(1)3}", "[12, 10], f32"), 4 * 320);
  // A rank has 4 x 12 floats, 192 bytes, and keeps a third.
  EXPECT_EQ(
      bytesOf("all_to_all %x from 0 dim 1 over @tp", "[12 over {1:(1)3}, 12], f32", "[12, 12 over {1:(1)3}], f32"),
      2 * 128);
  EXPECT_EQ(bytesOf("permute %x over @tp", "[12 over {1:(1)3}], f32", "[12 over {1:(1)3}], f32"), 2 * 16);
}

TEST(Traffic, OfAnotherElementType) {
  SchedModule owner(
      schedCollective("all_reduce %x over @tp", "[12, 10], bf16, partial = sum {1:(1)3}", "[12, 10], bf16"));
  owner.get().walk([](sched::StartOp start) {
    EXPECT_EQ(trafficBytes(start, 3), 4 * 160);
    EXPECT_EQ(trafficBytes(start, 3, mlir::Float32Type::get(start.getContext())), 4 * 320);
  });
}

TEST(Traffic, OfCoalescedTensorsIsThatOfTheirSum) {
  // Six floats are 24 bytes. A rank sends 32 for them, six times five and a third.
  std::string partial = "[], f32, partial = sum {1:(1)3}", inputs, operands, from, to, outputs;
  for (int i = 0; i < 6; ++i) {
    std::string comma = i ? ", " : "", name = "%x" + std::to_string(i);
    inputs += name + " = sched.input \"x" + std::to_string(i) + "\" : <" + partial + ">\n";
    operands += comma + name;
    from += comma + "<" + partial + ">";
    to += comma + "<[], f32>";
    outputs += "sched.output \"y" + std::to_string(i) + "\" %y#" + std::to_string(i) + " : <[], f32>\n";
  }
  SchedModule owner(
      schedHead + "sched.program @forward {\n" + inputs + "%p = sched.pack " + operands + " : !sched.packed<" + from +
      ">\n%t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<" + from + "> -> <!sched.packed<" + to +
      ">>\n%r = sched.wait %t : !sched.token<!sched.packed<" + to + ">>\n%y:6 = sched.unpack %r : !sched.packed<" + to +
      ">\nsched.free %p, %r : !sched.packed<" + from + ">, !sched.packed<" + to + ">\n" + outputs + "}");
  ASSERT_THAT(owner.messages, testing::IsEmpty());
  bool isFound = false;
  owner.get().walk([&](sched::StartOp start) {
    isFound = true;
    EXPECT_EQ(trafficBytes(start, 3), 2 * 32);
  });
  EXPECT_TRUE(isFound);
}

TEST(Traffic, CountsWhatTheRankHolds) {
  // The tensor stays sharded over dp: 6 x 10 floats are 240 bytes.
  EXPECT_EQ(bytesOf("all_reduce %x over @tp", "[12 over {0:(1)2}, 10], f32, partial = sum {1:(1)3}",
                    "[12 over {0:(1)2}, 10], f32"),
            4 * 160);
}

TEST(Traffic, CountsTheRankWithTheLargestShards) {
  // 7 rows over dp are 4 and 3: the larger group gathers 4 x 12 floats.
  EXPECT_EQ(
      bytesOf("all_gather %x dim 1 over @tp", "[7 over {0:(1)2}, 12 over {1:(1)3}], f32", "[7 over {0:(1)2}, 12], f32"),
      2 * 128);
  // 4 blocks that count twice are distributed over 3 ranks as 0 to 2, 3 to 5 and 6 to 7: blocks 0 and 1, 1 and 2, 3.
  // Five that count 4 times as 0 to 6, 7 to 13 and 14 to 19: the second rank has 1, 2 and 3, the first only 0 and 1.
  for (auto [units, floats] : {std::pair(4, 2), {5, 3}}) {
    std::string type = "[" + std::to_string(units) + " over {1:(1)3} repeat " + (units == 4 ? "2" : "4") + "], f32";
    EXPECT_EQ(bytesOf("permute %x over @tp", type, type), 2 * floats * 4) << type;
  }
}
