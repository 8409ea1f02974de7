//===- nccl_status.h - NCCL and CUDA codes as Status ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_STATUS_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_STATUS_H

#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// "CUDA: an illegal memory access was encountered".
Status cudaStatus(const CudaApi &api, cudaError_t code);

/// ncclInProgress is not a failure. `communicator` (may be null) has details of its last failure.
Status ncclStatus(const NcclApi &api, ncclResult_t code, ncclComm_t communicator = nullptr);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_NCCL_STATUS_H
