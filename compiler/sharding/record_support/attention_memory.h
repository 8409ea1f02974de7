//===- attention_memory.h - memory of the attention kernel ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Sizes of a call of meshplan.attention. The names are those of records/attention.cpp.
struct AttentionSizes {
  int64_t batch, heads, groups, rows, keys, size, valueSize;
  int64_t elementBytes;

  /// nullopt if a tensor is missing or does not have 4 dims.
  static std::optional<AttentionSizes> of(const CallView &call);
};

/// True if a single call of ATen's flash kernel computes the result.
bool isOneFlashCall(const CallView &call, const AttentionSizes &sizes);

/// Peak bytes of runtime/tensor/torch/kernels/attention.cpp, besides its results.
int64_t attentionWorkspace(const CallView &call, const AttentionSizes &sizes);

/// The same for kernels/gradients/attention_gradient.cpp.
int64_t attentionGradientWorkspace(const CallView &call, const AttentionSizes &sizes);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_MEMORY_H
