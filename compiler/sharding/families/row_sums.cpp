//===- row_sums.cpp - calls that add rows to zeros ------------------------===//

#include "compiler/sharding/families/row_sums.h"
#include "llvm/ADT/STLExtras.h"

bool meshplan::addsRows(llvm::StringRef target) {
  return llvm::is_contained({"meshplan.embedding_gradient", "meshplan.index_sum", "meshplan.scatter_sum"}, target);
}
