//===- expert_gates.h - gates of experts that see all tokens ----*- C++ -*-===//
//
// A mixture may compute every expert for every token and multiply the result by a gate that is 0 where the token has
// not chosen the expert. Here such gates are recognized.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_GATES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_GATES_H

#include "compiler/transforms/import/experts/chosen_experts.h"
#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// For each token, the gate of the slot in which it has chosen one expert, and 0 if it has not. It is the sum over
/// slots of values[.., slot] where indices[.., slot] is the expert.
struct ExpertGate {
  mlir::Value indices, values; ///< [*token dims, slots]
  int64_t expert = 0;
};

/// The gate that `gate` [*token dims], or with further dims of size 1, provably is.
std::optional<ExpertGate> readExpertGate(SparseGatesReader &reader, mlir::Value gate);

/// The same for the gates of all experts, [*token dims, experts] or with a further dim of size 1; `expert` means
/// nothing.
std::optional<ExpertGate> readExpertGates(SparseGatesReader &reader, mlir::Value gates);

/// An expert and a token as coordinates.
struct ExpertAndToken {
  indexing::Expr expert, token;
  int64_t experts = 0, tokens = 0;
};

/// The same for gates that are moved from [*token dims, experts] or a view of that: `lead` are the indices of `value`
/// at an expert and a token, without its last dim, which has size 1.
std::optional<ExpertGate> readMovedGates(SparseGatesReader &reader, mlir::Value value, indexing::Indices lead,
                                         const ExpertAndToken &at);

/// True for a product of what experts make, or a sum of such products, with gates that depend on the largest scores
/// of all experts, but are not provably 0 for the others.
bool hasUnknownGates(SparseGatesReader &reader, plan::CallOp product);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_GATES_H
