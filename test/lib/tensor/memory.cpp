//===- memory.cpp - memory and threads of the stand-in --------------------===//

#include "runtime/tensor/memory.h"

#include "runtime/tensor/compute_scope.h"
#include "test/lib/tensor/plain_tensor.h"

#include <utility>

using namespace meshplan;

static std::shared_ptr<MemoryPool> &poolOfThread() {
  thread_local std::shared_ptr<MemoryPool> pool;
  return pool;
}

std::shared_ptr<std::byte> meshplan::allocateMemory(size_t bytes) {
  std::shared_ptr<MemoryPool> pool = poolOfThread();
  if (!pool || bytes == 0)
    return {new std::byte[bytes], std::default_delete<std::byte[]>()};
  MemoryPool::Block block = pool->allocate(bytes);
  return {static_cast<std::byte *>(block.address), [=](std::byte *) { pool->release(block, bytes); }};
}

void meshplan::installPoolAllocator() {}

PoolScope::PoolScope(std::shared_ptr<MemoryPool> pool) : outer(std::exchange(poolOfThread(), std::move(pool))) {}

PoolScope::~PoolScope() { poolOfThread() = std::move(outer); }

struct ComputeScope::Guards {};

ComputeScope::ComputeScope(int, Device) {}

ComputeScope::~ComputeScope() = default;

int meshplan::threadsPerRank(int, int) { return 1; }

Expected<int> meshplan::countCudaDevices() { return 0; }

Device meshplan::deviceOfThread() { return {}; }

void *meshplan::computeStream() { return nullptr; }

Status meshplan::synchronizeCompute() { return Status(); }

int64_t meshplan::peakDeviceBytes(Device) { return 0; }
