//===- attention_memory.h - what the attention kernel holds -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Sizes of a call of meshplan.attention, as records/attention.cpp names them.
struct AttentionSizes {
  int64_t batch, heads, groups, rows, keys, size, valueSize;
  int64_t elementBytes;

  /// nullopt if a tensor is missing or has not 4 dims.
  static std::optional<AttentionSizes> of(const CallView &call);
};

/// True if the result comes from ATen's flash kernel in one piece.
bool isOneFlashCall(const CallView &call, const AttentionSizes &sizes);

/// Bytes that runtime/tensor/torch/kernels/attention.cpp holds at most, besides its results.
int64_t attentionWorkspace(const CallView &call, const AttentionSizes &sizes);

/// The same of kernels/gradients/attention_gradient.cpp.
int64_t attentionGradientWorkspace(const CallView &call, const AttentionSizes &sizes);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H
