//===- api.h - the NCCL and CUDA functions in use ---------------*- C++ -*-===//
//
// The functions of NCCL and of the CUDA runtime that are used. The libraries are opened when needed, so that a program
// starts on a machine without them, and a test can substitute its own functions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_API_H
#define MESHPLAN_RUNTIME_COMM_NCCL_API_H

#include "runtime/base/status.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace meshplan {

/// One member per function, named as in the library without its prefix.
struct CudaApi {
  decltype(&::cudaGetDeviceCount) getDeviceCount;
  decltype(&::cudaSetDevice) setDevice;
  decltype(&::cudaStreamCreateWithFlags) streamCreateWithFlags;
  decltype(&::cudaStreamDestroy) streamDestroy;
  decltype(&::cudaStreamWaitEvent) streamWaitEvent;
  cudaError_t (*eventCreateWithFlags)(cudaEvent_t *, unsigned int); // the name is overloaded, as is cudaMalloc
  decltype(&::cudaEventDestroy) eventDestroy;
  decltype(&::cudaEventRecord) eventRecord;
  decltype(&::cudaEventQuery) eventQuery;
  decltype(&::cudaGetErrorString) getErrorString;

  // For callers with their own buffers.
  cudaError_t (*malloc)(void **, size_t);
  decltype(&::cudaFree) free;
  decltype(&::cudaMemcpyAsync) memcpyAsync;
};

struct NcclApi {
  CudaApi cuda;

  decltype(&::ncclGetVersion) getVersion;
  decltype(&::ncclGetUniqueId) getUniqueId;
  decltype(&::ncclCommInitRankConfig) commInitRankConfig;
  decltype(&::ncclCommGetAsyncError) commGetAsyncError;
  decltype(&::ncclCommAbort) commAbort;
  decltype(&::ncclCommDestroy) commDestroy;
  decltype(&::ncclGroupStart) groupStart;
  decltype(&::ncclGroupEnd) groupEnd;
  decltype(&::ncclAllReduce) allReduce;
  decltype(&::ncclAllGather) allGather;
  decltype(&::ncclReduceScatter) reduceScatter;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) recv;
  decltype(&::ncclGetErrorString) getErrorString;
  decltype(&::ncclGetLastError) getLastError;

  // Available since NCCL 2.19; null in older versions.
  ncclResult_t (*memAlloc)(void **, size_t);
  ncclResult_t (*memFree)(void *);
  ncclResult_t (*commRegister)(ncclComm_t, void *, size_t, void **);
  ncclResult_t (*commDeregister)(ncclComm_t, void *);

  bool registersBuffers() const { return memAlloc && memFree && commRegister && commDeregister; }
};

/// The functions of the installed CUDA runtime, which stays open. `unsupported` if one of them is missing.
Expected<const CudaApi *> openCuda();

/// The functions of the installed libraries, which stay open. Calls prepareNcclEnvironment first. `unsupported` if a
/// function is missing or the version is too old.
Expected<const NcclApi *> openNccl();

/// Sets the environment variables by which NCCL starts the collectives of a device in the order of their launches, and
/// connects the ranks of a communicator when it is created. NCCL reads them once, at its first call. `invalid` if the
/// user has set another value.
Status prepareNcclEnvironment();

/// `unsupported` unless NCCL can order launches of different communicators. `version` is as of ncclGetVersion.
Status checkNcclVersion(int version);

/// Number of devices of this machine; 0 without a driver.
int deviceCountOf(const CudaApi &cuda);

/// "CUDA: an illegal memory access was encountered".
Status cudaStatus(const CudaApi &api, cudaError_t code);

/// ncclInProgress is not a failure. `communicator` (may be null) has details of its last failure.
Status ncclStatus(const NcclApi &api, ncclResult_t code, ncclComm_t communicator = nullptr);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_API_H
