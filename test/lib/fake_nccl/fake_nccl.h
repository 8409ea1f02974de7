//===- fake_nccl.h - NCCL without devices -----------------------*- C++ -*-===//
//
// Ranks are threads of one process.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H

#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// A copy may be modified, to make one function fail.
NcclApi fakeNccl();

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_NCCL_H
