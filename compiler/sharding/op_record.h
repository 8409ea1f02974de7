//===- op_record.h - all that the compiler knows of an operator -*- C++ -*-===//
//
// One record for each operator: factor rule, linearity, cost and the form that it
// takes on a rank; its derivative is in compiler/derivatives. Propagation, resharding, extents, cost,
// memory and the record's own differential test are driven by it.
//
// Records are plain functions of a CallView, so they need no IR. The registry
// is immutable and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
#define MESHPLAN_COMPILER_SHARDING_OP_RECORD_H

#include "compiler/sharding/factor_rule.h"
#include "compiler/sharding/strides.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace meshplan {

/// An operator with its literal arguments and the types of its tensors. Types
/// are global in rules and linearity, local (no encoding) in costs and strides.
struct CallView {
  llvm::StringRef target;
  mlir::DictionaryAttr args;
  llvm::SmallVector<mlir::RankedTensorType, 4> operands;
  llvm::SmallVector<mlir::RankedTensorType, 2> results;
  /// How the operands lie in memory. Known only in costs and strides; empty: row-major.
  llvm::SmallVector<Strides, 4> strides;

  static CallView of(plan::CallOp call);

  /// The argument of this name, or null if it is the schema's default.
  mlir::Attribute get(llvm::StringRef name) const { return args.get(name); }
  /// The getters below give `otherwise` for an argument that is absent or of another kind; getFloat takes integers and
  /// truth values too.
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  bool getBool(llvm::StringRef name, bool otherwise) const;
  /// A list of integers that are all literal; nullopt if absent.
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  /// The operand number of a tensor argument, or nullopt if absent or None.
  std::optional<unsigned> getOperand(llvm::StringRef name) const;
  /// Operand numbers of a list-of-tensors argument; nullopt entries are None.
  llvm::SmallVector<std::optional<unsigned>> getOperands(llvm::StringRef name) const;
  Strides getStrides(unsigned operand) const;
};

/// Sets of operands in which the operator is linear when the other operands are
/// held: {0, 1} for add, {0} and {1} for mul, {0} for a view. A value that is
/// partial sum may enter only if the operands that are partial are one of them.
struct Linearity {
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> sets;
  /// The operator only moves elements: operands of a set may also be partial maxima or minima.
  bool movesElements = false;
};

/// Cost of one call on local shapes.
struct OpCost {
  int64_t flops = 0;          ///< multiply and add count as two
  int64_t bytes = 0;          ///< read and written
  int64_t workspaceBytes = 0; ///< temporaries that the kernel holds besides its results
  bool aliases = false;       ///< the results are views of operand 0: they allocate nothing and keep the operand alive
};

/// What runs on a rank: the target and its arguments, in which integers may be
/// #base.local.
struct LocalCall {
  std::string target;
  mlir::DictionaryAttr args;
};

/// A call that computes the same, or nearly, from fewer operands. `args` numbers
/// the operands as `operands` lists them.
struct CallRewrite {
  std::string target;
  mlir::DictionaryAttr args;
  llvm::SmallVector<unsigned, 4> operands; ///< operands of the old call that stay, in order
};

/// result = call + operand `addend`, by broadcasting aten.add.Tensor.
struct AddendSplit {
  CallRewrite call;
  unsigned addend = 0;                 ///< operand of the old call
  llvm::SmallVector<int64_t, 4> shape; ///< that the addend is viewed in first; empty: its own
};

/// A call that gives its sums apart: results with an index of `dim` for each index that is added up.
struct SharedSums {
  mlir::DictionaryAttr args;              ///< of the same target
  llvm::SmallVector<unsigned, 2> results; ///< that are such sums
  unsigned dim = 0;
  int64_t sharers = 1;  ///< indices that are added up for each of the results' own
  unsigned counter = 0; ///< operand with an index of `dim` for each that is added up
};

/// docs/adding-an-op.md says how to write one.
struct OpRecord {
  llvm::StringRef target;
  FactorRule (*rule)(const CallView &) = nullptr;
  Linearity (*linearity)(const CallView &) = nullptr;
  OpCost (*cost)(const CallView &) = nullptr;
  /// How a result lies in memory. Null: row-major.
  Strides (*strides)(const CallView &, unsigned result) = nullptr;
  /// Null: the call runs unchanged on local tensors. Called with the final, sharded types.
  LocalCall (*localize)(const CallView &, plan::MeshOp mesh) = nullptr;
  /// `localize` changes arguments, or makes it a kernel that autograd differentiates: the same holds where the runtime
  /// differentiates the call.
  bool localizesArguments = false;
  /// Set by operators that add one operand to the result of a contraction (the bias of linear). A `sum` factor of the
  /// rule may be divided only after the call is split this way: every rank would add the bias otherwise. nullopt: this
  /// call has no such operand, or it cannot be split off.
  std::optional<AddendSplit> (*splitAddend)(const CallView &) = nullptr;
  /// Set by operators whose results are, for each unit that ranks may share, the sum of what its sharers add. Where a
  /// result is shared each rank has only its own addends: the call gives them apart, and they are added up behind it by
  /// meshplan.sum_shared_heads. So it is where one unit is all that there is, of which a division would say nothing.
  /// nullopt: nothing is shared.
  std::optional<SharedSums> (*splitSharedSums)(const CallView &) = nullptr;
  /// Set by operators of which an operand gives only shape or dtype (new_ones, type_as): the same call without it.
  /// nullopt: every operand of this call is read. The importer applies it, so that no sharding of that operand matters.
  std::optional<CallRewrite> (*dropUnread)(const CallView &) = nullptr;
  /// Set by operators of which an operand gives only its shape and how it is divided: the same call without it, for
  /// when layouts are decided. nullopt: every operand of this call is read.
  std::optional<CallRewrite> (*dropShape)(const CallView &) = nullptr;
  /// Set by operators that can write float32 sums of 16-bit operands: the same call with such a result. nullopt: the
  /// operands of this call are converted first.
  std::optional<LocalCall> (*widen)(const CallView &) = nullptr;
  /// Names of the arguments that the operator writes in place, in the order of the results that they become.
  llvm::ArrayRef<llvm::StringLiteral> overwrites;
  /// Every element of a result is one element of an operand. With a divided contraction it is zero on all ranks but the
  /// one that holds that element: the sum of such addends is exact in every type.
  bool picksElements = false;
  /// Every element of a result is made of those at the same place in the operands that have dims, by arithmetic that
  /// does not know the place. Such a call runs on any selection of elements, as tensors of one dim.
  bool isPointwise = false;
  /// Of a pointwise call: its results are sums over all places.
  bool sumsElements = false;
  /// The operator takes a few passes over its operands, as a norm does: where these are at hand, its results are made
  /// again for the backward pass rather than held. Pointwise calls and views are so too and need not say it.
  bool isCheap = false;
  /// The operator is there to make addends of 16 bits, which are made in float32 otherwise.
  bool roundsAddends = false;
  /// The operator makes a tensor from literals alone. All others read one.
  bool readsNoTensor = false;
  /// The operator is a loss whose elements come from one element of each operand, and has PyTorch's argument
  /// `reduction`. The rule is that of the elements; the importer takes their mean or sum out of the call.
  bool isElementLoss = false;
};

/// All records by target.
class OpRegistry {
public:
  /// The records of this build.
  static const OpRegistry &get();

  /// The record of a target, or null. "vjp.TARGET" has one that follows from TARGET's.
  const OpRecord *lookup(llvm::StringRef target) const;

  /// Every target that has a record, sorted.
  llvm::SmallVector<llvm::StringRef> targets() const;

  void add(OpRecord record);

private:
  llvm::StringMap<OpRecord> records;
};

/// The rule of a call. Without a record, or if the call does not fit the schema of its record (FactorRule::verify
/// fails): every factor is `whole`, so the operator runs replicated.
FactorRule factorRuleOf(const CallView &call, const OpRecord *record);

/// True if the call only moves elements, takes some of them, and those depend on where they lie along the dim of its
/// operand: select, unbind, a slice. A flip takes all.
bool picksAlong(const CallView &call, unsigned operand, unsigned dim);

/// The cost of a call on a rank; nothing is known without a record.
OpCost costOf(const CallView &call, const OpRecord *record);

/// The strides of a result; row-major without a record.
Strides stridesOf(const CallView &call, const OpRecord *record, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
