//===- tensors.cpp - any bytes as a file of weights -----------------------===//
//
// Reads a safetensors file, or the weights in an archive, with runtime/data, and copies slices of accepted tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/safetensors_header.h"
#include "runtime/data/tensor_source_builder.h"
#include "runtime/data/zip_file.h"
#include "test/fuzz/json_mutator.h"
#include "test/fuzz/require.h"
#include "test/fuzz/zip_mutator.h"

#include <cstring>

using namespace meshplan;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Mutates the JSON header of a safetensors file, which follows 8 bytes with its length.
static size_t mutateHeader(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  uint64_t length = 0;
  constexpr size_t begin = sizeof(length);
  if (size >= begin)
    std::memcpy(&length, data, begin);
  if (size < begin || length > size - begin)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string json(reinterpret_cast<char *>(data) + begin, length);
  std::string payload(reinterpret_cast<char *>(data) + begin + length, size - begin - length);
  json = fuzz::mutateJson(json, seed);
  if (begin + json.size() + payload.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  length = json.size();
  std::memcpy(data, &length, begin);
  std::memcpy(data + begin, json.data(), json.size());
  std::memcpy(data + begin + json.size(), payload.data(), payload.size());
  return begin + json.size() + payload.size();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  if (isZipFile({reinterpret_cast<std::byte *>(data), size}))
    return fuzz::mutateZip(data, size, maxSize, seed);
  return seed % 4 == 0 ? LLVMFuzzerMutate(data, size, maxSize) : mutateHeader(data, size, maxSize, seed);
}

static Expected<TensorSource> openBytes(std::span<const std::byte> bytes) {
  TensorSourceBuilder builder("file");
  if (isZipFile(bytes)) {
    MESHPLAN_RETURN_IF_ERROR(addArchive(builder, "file", bytes));
  } else {
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<StoredTensor> tensors, readSafetensors("file", bytes));
    for (StoredTensor &tensor : tensors)
      builder.add(std::move(tensor));
  }
  return std::move(builder).finish();
}

static void readSlice(const TensorSource &source, const StoredTensor &tensor, const SliceRanges &ranges, DType dtype) {
  constexpr int64_t mostBytes = 1 << 16;
  std::optional<int64_t> size = byteCount(sliceShape(ranges), dtype);
  if (!size || *size > mostBytes)
    return;
  std::unique_ptr<std::byte[]> out(new std::byte[*size]);
  (void)source.read(tensor, ranges, dtype, {out.get(), static_cast<size_t>(*size)});
}

static void readTensor(const TensorSource &source, const StoredTensor &tensor) {
  SliceRanges last;
  for (int64_t extent : tensor.shape)
    last.push_back({{extent > 0 ? extent - 1 : 0, extent > 0 ? 1 : 0}});
  for (DType dtype : {tensor.dtype, DType::bf16, DType::f64}) {
    readSlice(source, tensor, wholeTensor(tensor.shape), dtype);
    readSlice(source, tensor, last, dtype);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A block of exactly this size, so that the sanitizer sees every read past the end.
  std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
  std::memcpy(bytes.get(), data, size);
  Expected<TensorSource> source = openBytes({bytes.get(), size});
  if (!source) {
    require(!source.status().message().empty(), "a refusal has a reason");
    return 0;
  }
  for (const std::string &name : source->names())
    readTensor(*source, *source->find(name));
  return 0;
}
