//===- nccl_status.cpp - NCCL and CUDA codes as Status --------------------===//

#include "runtime/comm/nccl/nccl_status.h"

using namespace meshplan;

Status meshplan::cudaStatus(const CudaApi &api, cudaError_t code) {
  return code == cudaSuccess ? Status() : Status::error(StatusCode::internal, "CUDA: ", api.getErrorString(code));
}

Status meshplan::ncclStatus(const NcclApi &api, ncclResult_t code, ncclComm_t communicator) {
  if (code == ncclSuccess || code == ncclInProgress)
    return Status();
  const char *more = api.getLastError(communicator);
  std::string detail = more && *more ? std::string(" (") + more + ")" : "";
  // A remote error is the consequence of a process that has died.
  StatusCode kind = code == ncclRemoteError ? StatusCode::peerLost : StatusCode::internal;
  return Status::error(kind, "NCCL: ", api.getErrorString(code), detail);
}
