//===- evaluate.h - values of expressions -----------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_INDEXING_EVALUATE_H
#define MESHPLAN_TEST_UNIT_INDEXING_EVALUATE_H

#include "compiler/indexing/expr.h"
#include <functional>
#include <string>
#include <vector>

namespace meshplan::indexing {

using Coordinates = std::vector<int64_t>;

/// The element of a tensor at indices.
using TensorValues = std::function<int64_t(int64_t tensor, const Coordinates &indices)>;

/// The value of an integer or boolean expression.
int64_t evaluate(Expr expr, const Coordinates &coordinates, const TensorValues &tensors = nullptr);

/// Calls `visit` for every element of a tensor.
void forEachElement(llvm::ArrayRef<int64_t> shape, const std::function<void(const Coordinates &)> &visit);

/// The text of an expression, "null" for none.
std::string text(Expr expr);

} // namespace meshplan::indexing

#endif // MESHPLAN_TEST_UNIT_INDEXING_EVALUATE_H
