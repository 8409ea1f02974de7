//===- lookups.cpp - sums of rows of a table ------------------------------===//

#include "compiler/transforms/import/composites/composites.h"

using namespace mlir;
using namespace meshplan;

/// The size of all bags if `offsets` counts in equal steps through all indices, as PyTorch creates it for indices with
/// a row for each bag; else 0.
static int64_t sizeOfBags(Value offsets, int64_t indices) {
  auto made = offsets.getDefiningOp<plan::CallOp>();
  if (!made || made.getTarget() != "aten.arange.start_step")
    return 0;
  CallView view = CallView::of(made);
  int64_t step = view.getInt("step", 1);
  bool isEven = view.getInt("start", -1) == 0 && view.getInt("end", -1) == indices && step > 0 && indices % step == 0;
  return isEven ? step : 0;
}

/// embedding_bag with bags of one size: sums of rows of an embedding. Maxima stay, because the kernel also returns the
/// row of each; so do bags with padding, which does not count.
static SmallVector<Value> bags(const Composite &call) {
  constexpr int64_t sum = 0, mean = 1;
  const CallView &view = call.getView();
  Value weight = call.operand("weight"), indices = call.operand("indices"), offsets = call.operand("offsets");
  Value factors = call.operand("per_sample_weights");
  int64_t mode = view.getInt("mode", sum);
  if (!weight || !indices || !offsets || !call.readsFirstOnly() || shapeOf(indices).size() != 1 ||
      (mode != sum && mode != mean) || view.getInt("padding_idx", -1) >= 0 ||
      view.getBool("include_last_offset", false) || view.getBool("scale_grad_by_freq", false))
    return {};
  int64_t size = sizeOfBags(offsets, shapeOf(indices)[0]);
  if (size == 0)
    return {};
  int64_t count = shapeOf(indices)[0] / size, features = shapeOf(weight)[1];
  Type element = elementOf(weight);
  Value rows = call.make("aten.embedding.default")
                   .tensor("weight", weight)
                   .tensor("indices", call.reshape(indices, {count, size}))
                   .build({count, size, features}, element);
  if (factors)
    rows = call.make("aten.mul.Tensor")
               .tensor("self", rows)
               .tensor("other", call.reshape(factors, {count, size, 1}))
               .build({count, size, features}, element);
  Value made = call.make(mode == sum ? "aten.sum.dim_IntList" : "aten.mean.dim")
                   .tensor("self", rows)
                   .integers("dim", {1})
                   .build({count, features}, element);
  SmallVector<Value> values(view.results.size());
  values.front() = made;
  return values;
}

void meshplan::addLookupComposites(llvm::StringMap<CompositeRule> &table) {
  table["aten.embedding_bag.default"] = table["aten.embedding_bag.padding_idx"] = {bags, {{"weight", 2, 2}}};
}
