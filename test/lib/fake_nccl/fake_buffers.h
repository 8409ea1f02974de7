//===- fake_buffers.h - memory for registration -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_BUFFERS_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_BUFFERS_H

#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// The registered buffers of all ranks of the process. Thread safe.
struct FakeBuffers {
  int64_t allocated = 0;     ///< and not yet freed
  int64_t registered = 0;    ///< and not yet forgotten
  int64_t registrations = 0; ///< ever
};
FakeBuffers fakeBuffers();

/// NCCL's functions, with memory of `cuda`. A registered buffer is in use and cannot be freed; only buffers allocated
/// here can be registered.
ncclResult_t allocateFakeBuffer(const CudaApi &cuda, void **memory, size_t size);
ncclResult_t freeFakeBuffer(const CudaApi &cuda, void *memory);
ncclResult_t registerFakeBuffer(ncclComm_t communicator, void *memory, size_t size, void **handle);
ncclResult_t deregisterFakeBuffer(ncclComm_t communicator, void *handle);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_BUFFERS_H
