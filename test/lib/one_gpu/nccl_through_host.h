//===- nccl_through_host.h - NCCL for ranks that share a GPU ----*- C++ -*-===//
//
// NCCL rejects two ranks on one GPU. This stand-in moves the data of a real (or fake) CUDA runtime through host memory.
// See README.md.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_ONE_GPU_NCCL_THROUGH_HOST_H
#define MESHPLAN_TEST_LIB_ONE_GPU_NCCL_THROUGH_HOST_H

#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// NCCL's functions over those of `cuda`. A process has one such table; the last call sets `cuda`.
NcclApi ncclThroughHost(const CudaApi &cuda);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_ONE_GPU_NCCL_THROUGH_HOST_H
