//===- local_args.h - arguments that differ between ranks -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LOCAL_ARGS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LOCAL_ARGS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if the type's sharding divides this dim.
bool isDivided(mlir::RankedTensorType type, int64_t dim);

/// Argument names as template parameters.
namespace argument {
inline constexpr char size[] = "size";
inline constexpr char other[] = "other";
} // namespace argument

/// The call as it is.
LocalCall unchanged(const CallView &call);

/// The call with argument `name` set to `value`; null removes it.
mlir::DictionaryAttr withArg(mlir::DictionaryAttr args, llvm::StringRef name, mlir::Attribute value);

/// The call as `target` without its tensor argument `name`; later operands are renumbered.
CallRewrite withoutOperand(const CallView &call, llvm::StringRef target, llvm::StringRef name);

/// Splits off the argument `bias`, which broadcasts to the result; nullopt if there is none.
std::optional<AddendSplit> splitBias(const CallView &call);

/// The call without its argument `like`, if it has one.
std::optional<CallRewrite> withoutLike(const CallView &call);

/// An i64 literal.
mlir::Attribute intLiteral(mlir::MLIRContext *context, int64_t value);

/// The sizes of dims [first, first + count) of the first result on the rank: literals for whole dims, #base.local for
/// divided ones.
mlir::ArrayAttr localSizes(const CallView &call, int64_t first, int64_t count);

/// The call with its list of sizes replaced by those of the first result, if any of its dims is divided.
LocalCall localizeSizes(const CallView &call, llvm::StringRef name);

template <const char *Name> LocalCall localizeSizes(const CallView &call, plan::MeshOp) {
  return localizeSizes(call, Name);
}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LOCAL_ARGS_H
