//===- attention_args.h - attention on a rank -------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_ARGS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_ARGS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if the call has dropout whose random numbers do not follow from its operands: it can only run replicated.
bool drawsFreely(const CallView &call);

/// True if the call has dropout whose random numbers depend on positions in the whole tensor: samples and heads are
/// counted.
bool dropsByNumber(const CallView &call);

/// A call of meshplan.attention, or of its gradients, on a rank. Where neighbours share key heads, the heads of the
/// rank do not form groups of one size; the kernel is told which of its keys each head reads. With dropout it is also
/// told the positions of its samples and heads.
LocalCall localizeAttention(const CallView &call, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_ATTENTION_ARGS_H
