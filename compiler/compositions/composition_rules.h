//===- composition_rules.h - the composition of each operator ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H
#define MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H

#include "compiler/compositions/composition.h"

namespace meshplan {

/// The dims that a call needs whole, and of which numbers of each part would do.
struct ComposedDims {
  /// Operands that have them all, of the same sizes.
  llvm::SmallVector<unsigned, 2> operands;
  llvm::SmallVector<int64_t, 2> dims; ///< counted from 0
  /// Bytes that ranks add to each other for each row: for all elements that differ in these dims only.
  int64_t exchanged = 0;
};

struct CompositionRule {
  /// nullopt: this call has no composition.
  std::optional<ComposedDims> (*dims)(const CallView &, plan::MeshOp) = nullptr;
  /// Gives every result that has a reader.
  void (*compose)(Composition &) = nullptr;
  /// The operand that is there for its shape and how it is divided, if there is one. The call goes without it where
  /// that does not divide the dims.
  llvm::StringLiteral like = "";
};

/// Bytes of one number, and of the place of an element, as ranks exchange them for `exchanged`.
inline constexpr int64_t numberBytes = 4;
inline constexpr int64_t placeBytes = 8;

/// The rule of a target, or null. Immutable and thread safe.
const CompositionRule *compositionOf(llvm::StringRef target);

/// Rules by target.
using CompositionTable = llvm::StringMap<CompositionRule>;

// Each file of rules/ adds its own.
void addExtremeCompositions(CompositionTable &table);
void addNormCompositions(CompositionTable &table);
void addPlaceCompositions(CompositionTable &table);
void addSelectionCompositions(CompositionTable &table);
void addSoftmaxCompositions(CompositionTable &table);
void addSpreadCompositions(CompositionTable &table);

//===----------------------------------------------------------------------===//
// What rules share
//===----------------------------------------------------------------------===//

/// The dims that the argument `dim` names, a number or a list, counted from 0 and sorted; all of them if it is absent,
/// None or empty. nullopt if one is none of the tensor's.
std::optional<llvm::SmallVector<int64_t>> dimsOf(const CallView &call, int64_t rank);

/// `dim` of the operand of this name, and bytes for each row; nullopt if the call has no such operand or dim.
std::optional<ComposedDims> oneDim(const CallView &call, llvm::StringRef operand, int64_t dim, int64_t exchanged);

/// `dims` of the operand of this name; nullopt if there are none.
std::optional<ComposedDims> severalDims(const CallView &call, llvm::StringRef operand,
                                        std::optional<llvm::SmallVector<int64_t>> dims, int64_t exchanged);

/// Elements of the dims together.
int64_t elementsAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_RULES_H
