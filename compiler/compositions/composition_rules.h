//===- composition_rules.h - the composition of each operator ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H
#define MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H

#include "compiler/compositions/composition.h"

namespace meshplan {

/// Dims that a call needs whole, and over which it can be composed from numbers per row.
struct ComposedDims {
  /// Operands that have all these dims, with the same sizes.
  llvm::SmallVector<unsigned, 2> operands;
  llvm::SmallVector<int64_t, 2> dims; ///< normalized: no negative numbers
  /// Bytes that ranks reduce for each row. A row is all elements that differ only in these dims.
  int64_t exchanged = 0;
};

struct CompositionRule {
  /// nullopt: this call has no composition.
  std::optional<ComposedDims> (*dims)(const CallView &, plan::MeshOp) = nullptr;
  /// Replaces every result that has a reader.
  void (*compose)(Composition &) = nullptr;
  /// An operand that only tells the shape and sharding of a result, if there is one. Where it does not split the dims,
  /// the operand is dropped and the call stays.
  llvm::StringLiteral like = "";
};

/// Bytes of one number per row, and of an index of an element, as counted in `exchanged`.
inline constexpr int64_t numberBytes = 4;
inline constexpr int64_t indexBytes = 8;

/// The rule of a target, or null. Immutable and thread safe.
const CompositionRule *compositionOf(llvm::StringRef target);

/// Rules by target.
using CompositionTable = llvm::StringMap<CompositionRule>;

// Each file of rules/ adds its own.
void addExtremeCompositions(CompositionTable &table);
void addNormCompositions(CompositionTable &table);
void addIndexingCompositions(CompositionTable &table);
void addSelectionCompositions(CompositionTable &table);
void addSoftmaxCompositions(CompositionTable &table);
void addSpreadCompositions(CompositionTable &table);

//===----------------------------------------------------------------------===//
// Helpers of rules
//===----------------------------------------------------------------------===//

/// The dims of the argument `dim`, a number or a list, normalized and sorted; all dims if it is absent, None or empty.
/// nullopt if one is out of range.
std::optional<llvm::SmallVector<int64_t>> dimsOf(const CallView &call, int64_t rank);

/// `dim` of the operand of this name, with `exchanged` bytes per row; nullopt if the call has no such operand or dim.
std::optional<ComposedDims> oneDim(const CallView &call, llvm::StringRef operand, int64_t dim, int64_t exchanged);

/// The same for several dims; nullopt if there are none.
std::optional<ComposedDims> severalDims(const CallView &call, llvm::StringRef operand,
                                        std::optional<llvm::SmallVector<int64_t>> dims, int64_t exchanged);

/// Number of elements of the dims together.
int64_t elementsAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H
