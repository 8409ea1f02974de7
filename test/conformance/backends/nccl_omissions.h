//===- nccl_omissions.h - features that NCCL lacks --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_CONFORMANCE_BACKENDS_NCCL_OMISSIONS_H
#define MESHPLAN_TEST_CONFORMANCE_BACKENDS_NCCL_OMISSIONS_H

#include "test/conformance/run_world.h"

namespace meshplan {

/// `order`: why sums are not in rank order; empty for a stand-in, which adds in rank order like the other backends.
Omissions ncclOmissions(std::string order = "");

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_BACKENDS_NCCL_OMISSIONS_H
