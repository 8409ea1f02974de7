//===- fake_cuda.h - the CUDA runtime without a device ----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_CUDA_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_CUDA_H

#include "runtime/comm/nccl/api.h"
#include "test/lib/fake_nccl/fake_stream.h"

namespace meshplan {

inline constexpr int fakeDeviceCount = 64;

CudaApi fakeCuda();

/// The device that the calling thread has set.
int currentFakeDevice();

FakeStream &fakeStreamOf(cudaStream_t stream);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_CUDA_H
