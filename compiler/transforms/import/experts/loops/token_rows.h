//===- token_rows.h - all tokens instead of chosen rows ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_TOKEN_ROWS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_TOKEN_ROWS_H

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/experts/loops/chosen_rows.h"

namespace meshplan {

/// What is known of the rows of tokens that have not chosen the expert.
struct OtherRows {
  bool areZero = false;
  mlir::Value are; ///< these rows are those of this tensor [tokens, ..]; null if they are unknown or 0
};

/// What all tokens have instead of the chosen rows.
struct TokenRows {
  mlir::Value all; ///< with the tokens instead of the rows
  OtherRows others;
  ExpertChoice choice;
};

/// The shape of a tensor with the tokens instead of the rows.
mlir::RankedTensorType withTokens(mlir::RankedTensorType type, int64_t tokens);

/// True if the call computes each row alone: the dims of rows are one factor, which it does not combine, and no other
/// tensor has it.
bool computesChosenRows(plan::CallOp call);

/// What is known of the results of a call that computes each row alone. `operands` has null for tensors that are not
/// rows.
OtherRows otherRowsOf(plan::CallOp call, llvm::ArrayRef<const TokenRows *> operands);

/// The same call on all tokens, before the old one. `operands` has a tensor with all tokens for each tensor of rows.
plan::CallOp cloneForTokens(plan::CallOp call, llvm::ArrayRef<mlir::Value> operands, int64_t tokens);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_TOKEN_ROWS_H
