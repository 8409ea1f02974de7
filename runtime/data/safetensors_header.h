//===- safetensors_header.h - the header of a safetensors file --*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H
#define MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// The tensors of a safetensors file in memory, in the order of their bytes; their payloads point into `bytes`.
/// `corrupted`, with `path` and the tensor, unless the header is valid and the tensors fill the file without gaps or
/// overlaps. A tensor of an unknown dtype has a foreignType.
Expected<std::vector<StoredTensor>> readSafetensors(const std::string &path, std::span<const std::byte> bytes);

/// All bytes before the tensors; the whole file if it is too short.
std::span<const std::byte> headerOf(std::span<const std::byte> file);

/// Size of a tensor in bytes; nullopt if an extent is negative, or if the product of the nonzero extents overflows.
std::optional<int64_t> byteCount(std::span<const int64_t> shape, DType dtype);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H
