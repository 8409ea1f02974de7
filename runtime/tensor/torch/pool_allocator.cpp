//===- pool_allocator.cpp - the compute library's host memory -------------===//
//
// Host memory of the compute library. Each block starts with a header that keeps its pool, so that a block returns to
// the rank that allocated it even if another thread frees it.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <mutex>
#include <new>

using namespace meshplan;

namespace {

struct BlockHeader {
  std::shared_ptr<MemoryPool> pool;
  size_t capacity; // size of the block, including this header
  size_t bytes;    // size of the elements
};

/// Keeps the elements aligned as c10::alloc_cpu does.
constexpr size_t headerBytes = 64;
static_assert(sizeof(BlockHeader) <= headerBytes);

void freeBlock(void *elements) {
  if (!elements)
    return;
  void *address = static_cast<std::byte *>(elements) - headerBytes;
  auto *header = std::launder(reinterpret_cast<BlockHeader *>(address));
  // Taken out of the block first: release may give the block to the system, and the header is in it.
  BlockHeader taken = std::move(*header);
  header->~BlockHeader();
  if (taken.pool)
    taken.pool->release({address, taken.capacity}, taken.bytes);
  else
    c10::free_cpu(address);
}

class PoolAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    void *elements = bytes > 0 ? allocateElements(bytes) : nullptr;
    // Data and context are the same pointer, as the library's raw interface requires.
    return {elements, elements, &freeBlock, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }

  void copy_data(void *destination, const void *source, size_t count) const override {
    default_copy_data(destination, source, count);
  }

private:
  static void *allocateElements(size_t bytes) {
    std::shared_ptr<MemoryPool> pool = currentPool();
    MemoryPool::Block block = pool ? pool->allocate(bytes, headerBytes)
                                   : MemoryPool::Block{c10::alloc_cpu(bytes + headerBytes), bytes + headerBytes};
    new (block.address) BlockHeader{std::move(pool), block.capacity, bytes};
    return static_cast<std::byte *>(block.address) + headerBytes;
  }
};

} // namespace

void meshplan::installPoolAllocator() {
  static std::once_flag once;
  // Never destroyed: the library keeps the allocator, and blocks may be freed at exit.
  std::call_once(once, [] { c10::SetCPUAllocator(new PoolAllocator, /*priority=*/1); });
}
