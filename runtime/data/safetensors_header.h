//===- safetensors_header.h - the table of a safetensors file ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H
#define MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// The tensors of a safetensors file in memory, in the order of their bytes;
/// their payloads point into `bytes`. `corrupted`, with `path` and the tensor,
/// unless the header is right and the tensors fill the file without gaps or
/// overlaps; `unsupported` for a dtype that the runtime does not have.
Expected<std::vector<StoredTensor>> readSafetensors(const std::string &path, std::span<const std::byte> bytes);

/// All bytes in front of the tensors; where the file is too short for them, all that it has.
std::span<const std::byte> headerOf(std::span<const std::byte> file);

/// Bytes of a tensor; nothing when a dim is negative, or when the product of those that are not 0 overflows.
std::optional<int64_t> byteCount(std::span<const int64_t> shape, DType dtype);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_SAFETENSORS_HEADER_H
