//===- optimizer_step.cpp - what an optimizer adds to a step --------------===//

#include "compiler/transforms/differentiate/optimizer_step.h"
#include "dialect/plan/settings.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Gathers one call of the optimizer, which belongs to no module of the model.
class StepCall {
public:
  StepCall(StringRef target, OpBuilder &builder, Location location)
      : target(target), builder(builder), location(location) {}

  StepCall &tensor(StringRef name, Value value) {
    args.set(name, OperandRefAttr::get(builder.getContext(), operands.size()));
    operands.push_back(value);
    return *this;
  }
  StepCall &number(StringRef name, double value) {
    args.set(name, builder.getF64FloatAttr(value));
    return *this;
  }
  StepCall &flag(StringRef name, bool value) {
    args.set(name, builder.getBoolAttr(value));
    return *this;
  }
  CallOp build(TypeRange results) {
    return CallOp::create(builder, location, results, builder.getStringAttr(target), operands,
                          args.getDictionary(builder.getContext()), StringAttr(), builder.getUnitAttr());
  }

private:
  StringRef target;
  OpBuilder &builder;
  Location location;
  SmallVector<Value> operands;
  NamedAttrList args;
};

} // namespace

static RankedTensorType withoutSharding(Value value) { return withSharding(value.getType(), {}); }

OptimizerStep::OptimizerStep(func::FuncOp step, OptimizerOp statement)
    : step(step), statement(statement), builder(step.getBody().front().getTerminator()) {
  Operation *output = step.getBody().front().getTerminator();
  for (unsigned index = 0; index < step.getNumResults(); ++index) {
    auto of = step.getResultAttrOfType<IntegerAttr>(index, "plan.gradient_of");
    if (!of)
      continue;
    auto group = step.getArgAttrOfType<IntegerAttr>(of.getInt(), "plan.group");
    int64_t number = group ? group.getInt() : 0;
    updates.push_back({step.getArgument(of.getInt()), output->getOperand(index),
                       cast<DictionaryAttr>(statement.getGroups()[number]), number});
  }
}

void OptimizerStep::add() {
  factor = clipFactor();
  for (const Update &update : updates)
    change(update);
  rewriteResults();
}

double OptimizerStep::number(const Update &update, StringRef name) const {
  auto value = update.numbers.getAs<FloatAttr>(name);
  return value ? value.getValueAsDouble() : 0;
}

BlockArgument OptimizerStep::addArgument(RankedTensorType type, ArrayRef<NamedAttribute> attributes) {
  unsigned index = step.getNumArguments();
  [[maybe_unused]] LogicalResult inserted =
      step.insertArgument(index, type, builder.getDictionaryAttr(attributes), statement.getLoc());
  return step.getArgument(index);
}

Value OptimizerStep::setting(const Twine &name, double value, DictionaryAttr schedule) {
  return settingArgument(step, name.str(), value, /*isPlaced=*/true, statement.getLoc(), schedule);
}

/// Groups with a rate of their own have a setting of their own.
Value OptimizerStep::learningRate(const Update &update) {
  double rate = number(update, "lr");
  auto first = cast<DictionaryAttr>(statement.getGroups()[0]).getAs<FloatAttr>("lr");
  bool isCommon = first && first.getValueAsDouble() == rate;
  return setting(isCommon ? "optimizer.lr" : "optimizer.group" + Twine(update.group) + ".lr", rate,
                 statement.getScheduleAttr());
}

BlockArgument OptimizerStep::state(const Update &update, StringRef name) {
  auto names = step.getArgAttrOfType<ArrayAttr>(update.parameter.getArgNumber(), "plan.names");
  std::string own = (cast<StringAttr>(names[0]).getValue() + "." + name).str();
  return addArgument(cast<RankedTensorType>(update.parameter.getType()),
                     {builder.getNamedAttr("plan.kind", builder.getStringAttr("state")),
                      builder.getNamedAttr("plan.names", builder.getStrArrayAttr({own})),
                      builder.getNamedAttr("plan.of", builder.getI64IntegerAttr(update.parameter.getArgNumber()))});
}

/// Squares are added up within each division of parameters first: every one of these is reduced once.
Value OptimizerStep::clipFactor() {
  if (!statement.getClip())
    return {};
  Location location = statement.getLoc();
  Type wide = builder.getF32Type();
  llvm::MapVector<Attribute, Value> sums;
  auto add = [&](Value left, Value right) {
    return StepCall("aten.add.Tensor", builder, location)
        .tensor("self", left)
        .tensor("other", right)
        .build(left.getType())
        .getResult(0);
  };
  for (const Update &update : updates) {
    SmallVector<Attribute> axes;
    for (DimShardingAttr dim : getSharding(update.parameter).getDims())
      axes.append(dim.getAxes().begin(), dim.getAxes().end());
    Type type = RankedTensorType::get({}, elementBytes(update.gradient.getType()) == 8 ? builder.getF64Type() : wide);
    Value square =
        StepCall("meshplan.square_sum", builder, location).tensor("self", update.gradient).build(type).getResult(0);
    Value &sum = sums[builder.getArrayAttr({builder.getArrayAttr(axes), TypeAttr::get(type)})];
    sum = sum ? add(sum, square) : square;
  }
  Value total;
  for (auto &[division, sum] : sums)
    total = total ? add(total, sum) : sum;
  return StepCall("meshplan.clip_factor", builder, location)
      .tensor("squared_norm", total)
      .number("limit", statement.getClip()->convertToDouble())
      .build(total.getType())
      .getResult(0);
}

void OptimizerStep::change(const Update &update) {
  if (statement.getKind() == "sgd")
    changeBySgd(update);
  else
    changeByAdam(update);
}

void OptimizerStep::changeByAdam(const Update &update) {
  BlockArgument average = state(update, "exp_avg"), square = state(update, "exp_avg_sq");
  StepCall call("meshplan.adam", builder, statement.getLoc());
  call.tensor("parameter", update.parameter).tensor("gradient", update.gradient).tensor("average", average);
  call.tensor("square_average", square)
      .tensor("learning_rate", learningRate(update))
      .tensor("step", setting("step", 1));
  if (factor)
    call.tensor("factor", factor);
  for (StringRef name : {"beta1", "beta2", "eps", "weight_decay"})
    call.number(name, number(update, name));
  Type type = withoutSharding(update.parameter);
  CallOp made = call.flag("decoupled", statement.getKind() == "adamw").build({type, type, type});
  give(made.getResults(), {update.parameter, average, square});
}

void OptimizerStep::changeBySgd(const Update &update) {
  bool hasMomentum = number(update, "momentum") != 0;
  StepCall call(hasMomentum ? "meshplan.sgd_momentum" : "meshplan.sgd", builder, statement.getLoc());
  call.tensor("parameter", update.parameter).tensor("gradient", update.gradient);
  call.tensor("learning_rate", learningRate(update)).number("weight_decay", number(update, "weight_decay"));
  if (factor)
    call.tensor("factor", factor);
  Type type = withoutSharding(update.parameter);
  if (!hasMomentum)
    return give(call.build(type).getResults(), {update.parameter});
  BlockArgument momentum = state(update, "momentum_buffer");
  call.tensor("momentum", momentum).tensor("step", setting("step", 1)).number("rate", number(update, "momentum"));
  call.number("dampening", number(update, "dampening")).flag("nesterov", number(update, "nesterov") != 0);
  give(call.build({type, type}).getResults(), {update.parameter, momentum});
}

void OptimizerStep::give(ValueRange values, ArrayRef<BlockArgument> arguments) {
  for (auto [value, argument] : llvm::zip(values, arguments))
    results.push_back({value, argument});
}

void OptimizerStep::rewriteResults() {
  Operation *output = step.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (unsigned index = 0; index < step.getNumResults(); ++index)
    if (!step.getResultAttr(index, "plan.gradient_of")) {
      values.push_back(output->getOperand(index));
      attributes.push_back(step.getResultAttrDict(index));
    }
  for (auto [value, argument] : results) {
    values.push_back(value);
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr("plan.updates", builder.getI64IntegerAttr(argument.getArgNumber()))));
  }
  output->setOperands(values);
  step.setType(builder.getFunctionType(step.getArgumentTypes(), ValueRange(values).getTypes()));
  step.setResAttrsAttr(builder.getArrayAttr(attributes));
}
