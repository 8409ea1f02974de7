//===- memory.cpp - memory and threads of the stand-in --------------------===//

#include "runtime/tensor/memory.h"

#include "runtime/tensor/compute_scope.h"
#include "test/lib/tensor/plain_tensor.h"

#include <utility>

using namespace meshplan;

static RankPools &poolsOfThread() {
  thread_local RankPools pools;
  return pools;
}

static bool &isHostOfThread() {
  thread_local bool isHost = false;
  return isHost;
}

std::shared_ptr<std::byte> meshplan::allocateMemory(size_t bytes) {
  std::shared_ptr<MemoryPool> pool = inHostScope() ? poolsOfThread().host : poolsOfThread().device;
  if (!pool || bytes == 0)
    return {new std::byte[bytes], std::default_delete<std::byte[]>()};
  MemoryPool::Block block = pool->allocate(bytes);
  return {static_cast<std::byte *>(block.address), [=](std::byte *) { pool->release(block, bytes); }};
}

void meshplan::installPoolAllocator() {}

PoolScope::PoolScope(std::shared_ptr<MemoryPool> device, std::shared_ptr<MemoryPool> host)
    : outer(std::exchange(poolsOfThread(), {std::move(device), std::move(host)})) {}

PoolScope::~PoolScope() { poolsOfThread() = std::move(outer); }

HostScope::HostScope(bool isOnHost) : outerIsHost(isHostOfThread()) { isHostOfThread() |= isOnHost; }

HostScope::~HostScope() { isHostOfThread() = outerIsHost; }

bool meshplan::inHostScope() { return isHostOfThread(); }

struct ComputeScope::Guards {};

ComputeScope::ComputeScope(int, Device) {}

ComputeScope::~ComputeScope() = default;

int meshplan::threadsPerRank(int, int) { return 1; }

Expected<int> meshplan::countCudaDevices() { return 0; }

Device meshplan::deviceOfThread() { return {}; }

void *meshplan::computeStream() { return nullptr; }

Status meshplan::synchronizeCompute() { return Status(); }

int64_t meshplan::peakDeviceBytes(Device) { return 0; }
