//===- lookup.h - the lookup self[indices] ----------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_LOOKUP_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_LOOKUP_H

#include "compiler/indexing/expr.h"
#include "compiler/sharding/op_record.h"

namespace meshplan {

/// `self[indices]`: the index tensor of each dim of self, and the position of their dims in the result.
struct Lookup {
  llvm::SmallVector<std::optional<unsigned>> operands; ///< by dim of self
  int64_t indexRank = 0;
  int64_t position = 0; ///< of the first dim of the index tensors in the result
};

/// The lookup of an aten.index call whose self has `rank` dims; nullopt if it has a boolean mask, or no indices.
std::optional<Lookup> describeLookup(const CallView &call, int64_t rank);

/// An index within a dim, counted from the front. Null if it may be out of range.
indexing::Expr withinDim(indexing::ExprBuilder &builder, indexing::Expr index, int64_t extent);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_LOOKUP_H
