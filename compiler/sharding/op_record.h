//===- op_record.h - all that the compiler knows of an operator -*- C++ -*-===//
//
// One record for each operator: factor rule, linearity, cost, the form that it
// takes on a rank, and its derivative. Propagation, resharding, extents, cost
// and the record's own differential test are driven by it.
//
// Records are plain functions of a CallView, so they need no IR. The registry
// is immutable and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
#define MESHPLAN_COMPILER_SHARDING_OP_RECORD_H

#include "compiler/sharding/factor_rule.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace meshplan {

/// An operator with its literal arguments and the types of its tensors. Types
/// are global in rules and linearity, local (no encoding) in costs.
struct CallView {
  llvm::StringRef target;
  mlir::DictionaryAttr args;
  llvm::SmallVector<mlir::RankedTensorType, 4> operands;
  llvm::SmallVector<mlir::RankedTensorType, 2> results;

  static CallView of(plan::CallOp call);

  /// The argument of this name, or null if it is the schema's default.
  mlir::Attribute get(llvm::StringRef name) const { return args.get(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  bool getBool(llvm::StringRef name, bool otherwise) const;
  /// A list of integers that are all literal; nullopt if absent.
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  /// The operand number of a tensor argument, or nullopt if absent or None.
  std::optional<unsigned> getOperand(llvm::StringRef name) const;
  /// Operand numbers of a list-of-tensors argument; nullopt entries are None.
  llvm::SmallVector<std::optional<unsigned>> getOperands(llvm::StringRef name) const;
};

/// Sets of operands in which the operator is linear when the other operands are
/// held: {0, 1} for add, {0} and {1} for mul, {0} for a view. A value that is
/// partial sum may enter only if the operands that are partial are one of them.
struct Linearity {
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> sets;
  /// The operator only moves elements: a partial value of any reduction passes.
  bool movesElements = false;
};

/// Cost of one call on local shapes.
struct OpCost {
  int64_t flops = 0;          ///< multiply and add count as two
  int64_t bytes = 0;          ///< read and written
  int64_t workspaceBytes = 0; ///< temporaries that the kernel holds besides its results
  bool aliases = false;       ///< the result is a view of operand 0: it allocates nothing and keeps the operand alive
};

/// What runs on a rank: the target and its arguments, in which integers may be
/// #plan.local.
struct LocalCall {
  std::string target;
  mlir::DictionaryAttr args;
};

/// docs/adding-an-op.md says how to write one.
struct OpRecord {
  llvm::StringRef target;
  FactorRule (*rule)(const CallView &) = nullptr;
  Linearity (*linearity)(const CallView &) = nullptr;
  OpCost (*cost)(const CallView &) = nullptr;
  /// Null: the call runs unchanged on local tensors. Called with the final, sharded types.
  LocalCall (*localize)(const CallView &, plan::MeshOp mesh) = nullptr;
  /// Name of the rule that derives the backward operators; null: none is known yet.
  const char *derivative = nullptr;
};

/// All records by target.
class OpRegistry {
public:
  /// The records of this build.
  static const OpRegistry &get();

  /// The record of a target, or null.
  const OpRecord *lookup(llvm::StringRef target) const;

  /// Every target that has a record, sorted.
  llvm::SmallVector<llvm::StringRef> targets() const;

  void add(OpRecord record);

private:
  llvm::StringMap<OpRecord> records;
};

/// The rule of a call. Without a record: every factor is `whole`, so the operator runs replicated.
FactorRule factorRuleOf(const CallView &call, const OpRecord *record);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
