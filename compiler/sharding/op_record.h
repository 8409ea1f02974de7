//===- op_record.h - properties of each operator ----------------*- C++ -*-===//
//
// One record for each operator: factor rule, linearity, cost, and the form that
// the operator takes on a rank. (Its derivative is in compiler/derivatives.)
// Propagation, resharding, extents, cost, memory and the record's own
// differential test use it.
//
// Records are plain functions of a CallView, so they need no IR. The registry
// is immutable and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
#define MESHPLAN_COMPILER_SHARDING_OP_RECORD_H

#include "compiler/sharding/factor_rule.h"
#include "compiler/sharding/storage/strides.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace meshplan {

/// An operator with its literal arguments and the types of its tensors. The types are global in rules and linearity,
/// and local (without encoding) in costs and strides.
struct CallView {
  llvm::StringRef target;
  mlir::DictionaryAttr args;
  llvm::SmallVector<mlir::RankedTensorType, 4> operands;
  llvm::SmallVector<mlir::RankedTensorType, 2> results;
  /// Strides of the operands. Known only in costs and strides; empty means row-major.
  llvm::SmallVector<Strides, 4> strides;

  static CallView of(plan::CallOp call);

  /// The argument of this name, or null if it is the default of the schema.
  mlir::Attribute get(llvm::StringRef name) const { return args.get(name); }
  /// The getters below return `otherwise` for an argument that is absent or of another type. getFloat accepts integers
  /// and booleans, too.
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  bool getBool(llvm::StringRef name, bool otherwise) const;
  /// A list of literal integers; nullopt if it is absent.
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  /// The operand index of a tensor argument; nullopt if it is absent or None.
  std::optional<unsigned> getOperand(llvm::StringRef name) const;
  /// The operand indices of a list of tensors; nullopt entries are None.
  llvm::SmallVector<std::optional<unsigned>> getOperands(llvm::StringRef name) const;
  Strides getStrides(unsigned operand) const;
};

/// Sets of operands in which the operator is linear while the other operands are fixed: {0, 1} for add, {0} and {1} for
/// mul, {0} for a view. Partial sums are accepted only if the partial operands are exactly one of the sets.
struct Linearity {
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> sets;
  /// The operator only moves elements: operands of a set may also be partial maxima or minima.
  bool movesElements = false;
};

/// The matrix products of a call: `count` times [m, k] x [k, n].
struct ProductExtents {
  int64_t m = 0, n = 0, k = 0, count = 0;
};

/// Cost of one call on local shapes.
struct OpCost {
  int64_t flops = 0;          ///< a multiply-add counts as two
  int64_t bytes = 0;          ///< read and written
  int64_t workspaceBytes = 0; ///< temporaries of the kernel besides its results
  bool aliases = false;       ///< the results are views of operand 0: they allocate nothing and extend its lifetime
  std::optional<ProductExtents> product = std::nullopt; ///< of an operator whose flops are those of matrix products
  int64_t equalParts = 1; ///< parts of equal size that do not depend on each other, which kernels compute one by one
};

/// The call on a rank: target and arguments. Integers in the arguments may be #base.local.
struct LocalCall {
  std::string target;
  mlir::DictionaryAttr args;
};

/// A call that replaces another one and has fewer operands. Except in AddendSplit it computes the same. Operand
/// references in `args` are positions in `operands`.
struct CallRewrite {
  std::string target;
  mlir::DictionaryAttr args;
  llvm::SmallVector<unsigned, 4> operands; ///< operands of the old call that remain, in order
};

/// The call as a sum: result = call + operand `addend`, with the broadcasting of aten.add.Tensor.
struct AddendSplit {
  CallRewrite call;
  unsigned addend = 0;                 ///< operand of the old call
  llvm::SmallVector<int64_t, 4> shape; ///< shape in which the addend is viewed first; empty: no view
};

/// A call that returns addends instead of sums. Where ranks share a block, the original result has one index for it
/// along `dim`; this call has `sharers` indices, one for each addend.
struct SharedSums {
  mlir::DictionaryAttr args;              ///< of the same target
  llvm::SmallVector<unsigned, 2> results; ///< indices of the results that are such sums
  unsigned dim = 0;
  int64_t sharers = 1;  ///< addends for each index of a sum
  unsigned counter = 0; ///< operand with an index of `dim` for each addend
};

/// The record of one operator. `rule`, `linearity` and `cost` are required; every other function may be null.
/// docs/adding-an-op.md tells how to write one.
struct OpRecord {
  llvm::StringRef target;
  FactorRule (*rule)(const CallView &) = nullptr;
  Linearity (*linearity)(const CallView &) = nullptr;
  OpCost (*cost)(const CallView &) = nullptr;
  /// Strides of a result. Null: row-major.
  Strides (*strides)(const CallView &, unsigned result) = nullptr;
  /// The form of the call on a rank. Null: the call runs unchanged on local tensors. It is called with the final,
  /// sharded types.
  LocalCall (*localize)(const CallView &, plan::MeshOp mesh) = nullptr;
  /// `localize` only changes arguments, or changes the target to a kernel that autograd differentiates. It therefore
  /// applies to the derivative that the runtime computes ("vjp.TARGET") as well.
  bool localizesArguments = false;
  /// Set by operators that add one operand to the result of a contraction (the bias of linear). A `sum` factor of the
  /// rule may be divided only after the addend is split off: otherwise every rank would add the bias. nullopt: the call
  /// has no such operand, or it cannot be split off.
  std::optional<AddendSplit> (*splitAddend)(const CallView &) = nullptr;
  /// Set by operators whose result for a shared block is the sum over its sharers, such as the gradient of a key head
  /// that several query heads read. If ranks share the block, each has only some of the addends. The rewritten call
  /// returns the addends, and a meshplan.sum_shared_heads after it sums them. It is also needed where the dim is a
  /// single block, whose sharding does not show that it is shared. nullopt: nothing is shared.
  std::optional<SharedSums> (*splitSharedSums)(const CallView &) = nullptr;
  /// Set by operators that use an operand only for its shape or dtype (new_ones, type_as): the same call without it.
  /// nullopt: every operand of this call is read. The importer applies it, so that the sharding of that operand does
  /// not matter.
  std::optional<CallRewrite> (*dropUnread)(const CallView &) = nullptr;
  /// Set by operators that use an operand only for its shape and sharding: the same call without it, for use after
  /// layouts are decided. nullopt: every operand of this call is read.
  std::optional<CallRewrite> (*dropShape)(const CallView &) = nullptr;
  /// Set by operators that can produce float32 sums of 16-bit operands: the same call with such a result. nullopt: the
  /// operands of this call are converted first.
  std::optional<LocalCall> (*widen)(const CallView &) = nullptr;
  /// Names of the arguments that the operator overwrites in place, in the order of the results that replace them.
  llvm::ArrayRef<llvm::StringLiteral> overwrites;
  /// Every element of a result is a copy of one element of an operand. If a contraction is divided, the result is zero
  /// on all ranks except the one that holds the element. The sum of such addends is exact in every type.
  bool picksElements = false;
  /// Every element of a result depends only on the elements at the same position in the operands that have dims, and
  /// not on the position itself. Such a call runs on any selection of elements, as tensors of rank 1.
  bool isPointwise = false;
  /// For a pointwise call: its results are sums over all positions.
  bool sumsElements = false;
  /// The operator makes a few sweeps over its operands, as a norm does: where its operands are available, its results
  /// are recomputed in the backward pass instead of held. Pointwise calls and views are cheap without this flag.
  bool isCheap = false;
  /// The operator rounds addends to 16 bits on purpose: plan-widen-addends leaves its result in 16 bits.
  bool roundsAddends = false;
  /// The operator creates a tensor from literals alone. All other operators read a tensor.
  bool readsNoTensor = false;
  /// The operator is a loss in which each element depends on one element of each operand, with PyTorch's argument
  /// `reduction`. The rule is that of the elements; the importer splits the mean or sum off the call.
  bool isElementLoss = false;
};

/// All records by target.
class OpRegistry {
public:
  /// The records of this build.
  static const OpRegistry &get();

  /// The record of a target, or null. "vjp.TARGET" has one that follows from TARGET's.
  const OpRecord *lookup(llvm::StringRef target) const;

  /// Every target with a record, sorted.
  llvm::SmallVector<llvm::StringRef> targets() const;

  void add(OpRecord record);

private:
  llvm::StringMap<OpRecord> records;
};

/// The rule of a call. Without a record, or if the call does not fit the schema of its record (FactorRule::verify
/// fails), every factor is `whole`, so that the operator runs replicated.
FactorRule factorRuleOf(const CallView &call, const OpRecord *record);

/// True if the call only moves elements, and selects them by their position along the dim of its operand: select,
/// unbind, a slice. A flip selects all elements, so it does not count.
bool picksAlong(const CallView &call, unsigned operand, unsigned dim);

/// True if the record of the operator has a cost. Otherwise estimates count its bytes.
bool hasCost(llvm::StringRef target);

/// The cost of a call on a rank; zero without a record.
OpCost costOf(const CallView &call, const OpRecord *record);

/// The strides of a result; row-major without a record.
Strides stridesOf(const CallView &call, const OpRecord *record, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_OP_RECORD_H
