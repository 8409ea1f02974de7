//===- fake_nccl.h - NCCL without devices ------------------------*- C++ -*-===//
//
// Ranks are threads of one process.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H

#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// What the fake holds of buffers, of all ranks of the process. Thread safe.
struct FakeBuffers {
  int64_t allocated = 0;     ///< and not yet freed
  int64_t registered = 0;    ///< and not yet forgotten
  int64_t registrations = 0; ///< ever
};
FakeBuffers fakeBuffers();

/// A copy may be changed, to make one function fail.
NcclApi fakeNccl();

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
