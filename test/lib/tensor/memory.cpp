//===- memory.cpp - memory and threads of the stand-in --------------------===//

#include "runtime/tensor/memory.h"

#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/copy_lane.h"
#include "runtime/tensor/device_marks.h"
#include "test/lib/tensor/plain_tensor.h"

using namespace meshplan;

std::shared_ptr<std::byte> meshplan::allocateMemory(size_t bytes) {
  std::shared_ptr<MemoryPool> pool = currentPool();
  if (!pool || bytes == 0)
    return {new std::byte[bytes], std::default_delete<std::byte[]>()};
  MemoryPool::Block block = pool->allocate(bytes);
  return {static_cast<std::byte *>(block.address), [=](std::byte *) { pool->release(block, bytes); }};
}

void meshplan::installPoolAllocator() {}

struct ComputeScope::Guards {};

ComputeScope::ComputeScope(int, Device) {}

ComputeScope::~ComputeScope() = default;

int meshplan::threadsPerRank(int, int) { return 1; }

Expected<int> meshplan::countCudaDevices() { return 0; }

Device meshplan::deviceOfThread() { return {}; }

void *meshplan::computeStream() { return nullptr; }

Status meshplan::synchronizeCompute() { return Status(); }

Expected<std::unique_ptr<CopyStream>> meshplan::openCopyStream(CopyDirection) {
  return Status(StatusCode::unsupported, "the stand-in has no GPU");
}

Status meshplan::finishHostReads() { return Status(); }

int64_t meshplan::peakDeviceBytes(Device) { return 0; }

DeviceMarks::DeviceMarks() = default;

DeviceMarks::~DeviceMarks() = default;

Status DeviceMarks::mark() {
  calls.push_back(Clock::now());
  return Status();
}

Expected<std::vector<DeviceMarks::Clock::time_point>> DeviceMarks::times() const { return calls; }
