//===- composites.cpp - operators composed of others ----------------------===//
//
// Operators that are compositions of others would each need a record with sharding rule, cost and derivative. Instead
// they are replaced by their parts, which have these. Only operators whose result is the same are here: a part must
// round where the kernel of the whole rounds.

#include "compiler/transforms/import/composites/composites.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/support/layer_names.h"

using namespace mlir;
using namespace meshplan;

static const llvm::StringMap<CompositeRule> &allRules() {
  static const llvm::StringMap<CompositeRule> table = [] {
    llvm::StringMap<CompositeRule> made;
    for (auto add : {addShapeComposites, addProductComposites, addFunctionComposites, addLookupComposites})
      add(made);
    return made;
  }();
  return table;
}

/// "1 dim", "0 to 2 dims"
static std::string textOf(const CompositeRank &rank) {
  std::string least = rank.least == rank.most ? "" : std::to_string(rank.least) + " to ";
  return least + std::to_string(rank.most) + (rank.most == 1 ? " dim" : " dims");
}

static LogicalResult checkRank(plan::CallOp call, const CallView &view, const CompositeRank &rank) {
  SmallVector<RankedTensorType> types;
  if (rank.name.empty())
    types.push_back(view.results.front());
  for (std::optional<unsigned> operand : view.getOperands(rank.name))
    if (operand)
      types.push_back(view.operands[*operand]);
  if (std::optional<unsigned> operand = view.getOperand(rank.name))
    types.push_back(view.operands[*operand]);
  for (RankedTensorType type : types)
    if (type.getRank() < rank.least || type.getRank() > rank.most) {
      std::string where = rank.name.empty() ? "its result" : "'" + rank.name.str() + "'";
      auto diagnostic = call.emitError() << operatorText(call.getTarget(), call.getModule()) << " needs "
                                         << textOf(rank) << " in " << where << ", which has " << type.getRank();
      diagnostic.attachNote() << "help: PyTorch refuses such a call: export the model again";
      return failure();
    }
  return success();
}

LogicalResult meshplan::splitComposite(plan::CallOp call) {
  auto found = allRules().find(call.getTarget());
  if (found == allRules().end() || call.getNumResults() == 0)
    return success();
  const CompositeRule &rule = found->second;
  Composite composite(call);
  for (const CompositeRank &rank : rule.ranks)
    if (failed(checkRank(call, composite.getView(), rank)))
      return failure();
  SmallVector<Value> values = rule.apply(composite);
  // The rule does not cover this form of the operator, and has returned nothing.
  if (values.size() != call.getNumResults())
    return success();
  for (auto [result, value] : llvm::zip_equal(call.getResults(), values))
    if (value && value.getType() != result.getType())
      return call.emitError() << operatorText(call.getTarget(), call.getModule()) << " returns " << value.getType()
                              << " for its arguments, and the model has " << result.getType();
  for (auto [result, value] : llvm::zip_equal(call.getResults(), values))
    if (value)
      result.replaceAllUsesWith(value);
  call.erase();
  return success();
}

Value Composite::operand(StringRef name) const {
  std::optional<unsigned> index = view.getOperand(name);
  plan::CallOp own = call;
  return index ? own.getOperand(*index) : Value();
}

SmallVector<Value> Composite::operands(StringRef name) const {
  SmallVector<Value> values;
  plan::CallOp own = call;
  for (std::optional<unsigned> index : view.getOperands(name)) {
    if (!index)
      return {};
    values.push_back(own.getOperand(*index));
  }
  return values;
}

bool Composite::readsFirstOnly() const {
  plan::CallOp own = call;
  return llvm::all_of(own.getResults().drop_front(), [](Value result) { return result.use_empty(); });
}

Value Composite::concatenate(ArrayRef<Value> values, int64_t dim) const {
  return make("aten.cat.default").tensors("tensors", values).integer("dim", dim).build(resultShape(), resultElement());
}

Value Composite::binary(StringRef target, Value self, Value other, ArrayRef<int64_t> shape) const {
  return make(target).tensor("self", self).tensor("other", other).build(shape, resultElement());
}

Value Composite::einsum(StringRef equation, ArrayRef<Value> tensors, ArrayRef<int64_t> shape) const {
  return make("aten.einsum.default")
      .text("equation", equation)
      .tensors("tensors", tensors)
      .build(shape, resultElement());
}

Value Composite::addScaled(Value self, Value product) const {
  auto scale = [&](Value value, StringRef name) {
    double factor = view.getFloat(name, 1);
    Attribute number = view.get(name);
    return factor == 1 ? value
                       : make("aten.mul.Scalar")
                             .tensor("self", value)
                             .literal("other", number)
                             .build(shapeOf(value), elementOf(value));
  };
  Value scaled = scale(product, "alpha");
  return view.getFloat("beta", 1) == 0 ? scaled : binary("aten.add.Tensor", scale(self, "beta"), scaled, resultShape());
}
