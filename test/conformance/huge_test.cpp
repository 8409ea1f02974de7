//===- huge_test.cpp - one piece of more than 2 GiB -----------------------===//

#include "test/conformance/helpers.h"

#include <algorithm>

namespace meshplan {
namespace {

constexpr int64_t hugeCount = (int64_t(1) << 31) + 12'345;

uint8_t byteOf(int64_t i) { return static_cast<uint8_t>(i % 251); }

TEST(Huge, Send) {
  expectOk(2, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<uint8_t> buffer(hugeCount);
    if (world.rank() == 0) {
      for (int64_t i = 0; i < hugeCount; ++i)
        buffer[i] = byteOf(i);
      return finish(group->startSend(buffer.data(), hugeCount, DType::u8, 1));
    }
    MESHPLAN_RETURN_IF_ERROR(finish(group->startReceive(buffer.data(), hugeCount, DType::u8, 0)));
    int64_t wrong = 0;
    for (int64_t i = 0; i < hugeCount; ++i)
      wrong += buffer[i] != byteOf(i);
    EXPECT_EQ(wrong, 0);
    return Status();
  });
}

TEST(Huge, AllReduceInPlace) {
  expectOk(2, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<uint8_t> buffer(2 * hugeCount, static_cast<uint8_t>(world.rank() + 1));
    buffer.back() = 7;
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startAllReduce(buffer.data(), buffer.data(), 2 * hugeCount, DType::u8, Reduction::sum)));
    EXPECT_EQ(buffer.back(), 14);
    buffer.back() = 3;
    EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 3), 2 * hugeCount);
    return Status();
  });
}

} // namespace
} // namespace meshplan
