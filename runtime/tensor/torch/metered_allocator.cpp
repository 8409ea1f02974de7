//===- metered_allocator.cpp - host memory that is counted per rank -------===//
//
// Each block starts with a header that keeps its meter, so that a block counts
// for the rank that made it even if another thread frees it.
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
  std::shared_ptr<MemoryMeter> meter;
  int64_t bytes;
};

/// Keeps the elements as aligned as c10::alloc_cpu makes them.
constexpr size_t headerBytes = 64;
static_assert(sizeof(BlockHeader) <= headerBytes);

std::shared_ptr<MemoryMeter> &meterOfThread() {
  thread_local std::shared_ptr<MemoryMeter> meter;
  return meter;
}

void freeBlock(void *elements) {
  if (!elements)
    return;
  void *block = static_cast<std::byte *>(elements) - headerBytes;
  BlockHeader *header = std::launder(reinterpret_cast<BlockHeader *>(block));
  if (header->meter)
    header->meter->remove(header->bytes);
  header->~BlockHeader();
  c10::free_cpu(block);
}

class MeteredAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    void *elements = nullptr;
    if (bytes > 0) {
      void *block = c10::alloc_cpu(bytes + headerBytes);
      auto *header = new (block) BlockHeader{meterOfThread(), static_cast<int64_t>(bytes)};
      if (header->meter)
        header->meter->add(header->bytes);
      elements = static_cast<std::byte *>(block) + headerBytes;
    }
    // Data and context are the same pointer: the library's raw interface asks for it.
    return {elements, elements, &freeBlock, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }

  void copy_data(void *destination, const void *source, size_t count) const override {
    default_copy_data(destination, source, count);
  }
};

} // namespace

void MemoryMeter::add(int64_t bytes) {
  int64_t now = currentBytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t largest = peakBytes.load(std::memory_order_relaxed);
  while (now > largest && !peakBytes.compare_exchange_weak(largest, now, std::memory_order_relaxed))
    ;
}

void meshplan::installMeteredAllocator() {
  static std::once_flag once;
  // The library never gives an allocator back, and blocks may be freed at exit: the allocator is not destroyed.
  std::call_once(once, [] { c10::SetCPUAllocator(new MeteredAllocator, /*priority=*/1); });
}

MeterScope::MeterScope(std::shared_ptr<MemoryMeter> meter) : outer(std::move(meterOfThread())) {
  meterOfThread() = std::move(meter);
}

MeterScope::~MeterScope() { meterOfThread() = std::move(outer); }
