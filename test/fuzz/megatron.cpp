//===- megatron.cpp - any bytes as the index of a Megatron data set -------===//
//
// Reads an index with runtime/dataset, and compares an accepted one with its bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/dataset/megatron_index.h"
#include "test/fuzz/require.h"

#include <cstring>
#include <memory>

using namespace meshplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A block of exactly this size, so that the sanitizer sees every read past the end.
  std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
  std::memcpy(bytes.get(), data, size);
  Expected<MegatronIndex> index = readMegatronIndex("file", {bytes.get(), size});
  if (!index) {
    require(!index.status().message().empty(), "a refusal has a reason");
    return 0;
  }
  require(index->sequences >= 0 && index->documents >= 0, "counts are not negative");
  require(static_cast<int64_t>(size) == 34 + 12 * index->sequences + 8 * index->documents, "counts fit the file");
  int64_t tokens = 0;
  for (int64_t i = 0; i < index->sequences; ++i) {
    int32_t length;
    std::memcpy(&length, data + 34 + 4 * i, sizeof length);
    tokens += length;
  }
  require(tokens == index->tokens, "tokens are those of the sequences");
  return 0;
}
