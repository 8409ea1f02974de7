//===- fake_nccl.h - NCCL without devices -----------------------*- C++ -*-===//
//
// Ranks are threads of one process.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H

#include "runtime/comm/nccl/api.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace meshplan {

struct FakeNcclOptions {
  /// Called before each launch, by the threads that launch, possibly by several at the same time.
  std::function<void()> beforeLaunch = nullptr;
  /// A device runs one kernel at a time, in the order of the launches, like one without room for two.
  bool isNarrow = false;
};

/// A copy may be modified, to make one function fail. The options are those of the last call.
NcclApi fakeNccl(FakeNcclOptions options = {});

/// A kernel that a device got.
struct FakeLaunch {
  int64_t communicator; ///< number among those that were created on the device, from 0
  int64_t number;       ///< number among the launches of the communicator, from 0

  bool operator==(const FakeLaunch &) const = default;
};

/// The launches on a device since the last call of fakeNccl, in their order.
std::vector<FakeLaunch> fakeLaunches(int device);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
