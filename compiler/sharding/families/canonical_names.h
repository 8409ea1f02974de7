//===- canonical_names.h - operators with several names ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_CANONICAL_NAMES_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_CANONICAL_NAMES_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The same call under the name that has a record (`multiply` is `mul`, `swapaxes` is `transpose`), or nullopt. ATen
/// implements one by calling the other, so that results keep their bits. Pure and thread safe.
std::optional<CallRewrite> toCanonicalOperator(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_CANONICAL_NAMES_H
