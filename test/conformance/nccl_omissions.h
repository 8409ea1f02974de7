//===- nccl_omissions.h - what NCCL does otherwise ---------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_CONFORMANCE_NCCL_OMISSIONS_H
#define MESHPLAN_TEST_CONFORMANCE_NCCL_OMISSIONS_H

#include "test/conformance/run_world.h"

namespace meshplan {

/// `order`: why sums are not in the order of the ranks; empty for a stand-in, which adds as the other backends do.
Omissions ncclOmissions(std::string order = "");

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_NCCL_OMISSIONS_H
