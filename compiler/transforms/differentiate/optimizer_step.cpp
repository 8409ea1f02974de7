//===- optimizer_step.cpp - adds the optimizer to a step ------------------===//
//
// The update of each parameter, in the order reduce, hold, count, change. What lies where follows from the data
// statement:
//
//   stage       gradient after reduce     held (read and changed)    parameter
//   replicated  laid out like the param.  the parameter              changed in place
//   optimizer,  flat shard                flat shard of the param.,  all-gathered from
//   gradients                             or the master, flat        the changed shards
//   parameters  flat shard                flat parameter             changed in place
//
// A master, a copy in a wider type, takes the role of the parameter in the update; the parameter is then assigned from
// it, rounded.
//
// Example: w [6, 4] in bf16 with master f32, dp = 2, tp = 3 over dim 0, `shard optimizer`. A rank has [2, 4] of w, 8
// elements; its gradient is converted to f32, reduce-scattered over dp to 4 elements, and updates 4 elements of the
// master and of the moments; these are rounded to bf16 and gathered over dp into w.

#include "compiler/transforms/differentiate/optimizer_step.h"
#include "compiler/sharding/storage/data_axes.h"
#include "compiler/transforms/differentiate/divided_sum.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "runtime/schema/program_names.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static RankedTensorType withoutSharding(Value value) { return withSharding(value.getType(), {}); }

OptimizerStep::OptimizerStep(func::FuncOp step, OptimizerOp statement, PrecisionOp precision)
    : step(step), statement(statement), precision(precision), builder(step.getBody().front().getTerminator()),
      states(step), guard(step, statement, precision, builder) {
  Operation *output = step.getBody().front().getTerminator();
  ArgumentTable arguments(step);
  for (unsigned index = 0; index < step.getNumResults(); ++index) {
    BlockArgument parameter = arguments[resultAttr<attr::GradientOf>(step, index)];
    if (!parameter)
      continue;
    auto group = argAttr<attr::Group>(parameter);
    int64_t number = group ? group.getInt() : 0;
    updates.push_back({parameter, output->getOperand(index), cast<OptimizerGroupAttr>(statement.getGroups()[number]),
                       number, nullptr, nullptr, nullptr});
  }
}

AxisList OptimizerStep::flatAxes(const Update &update) const {
  DataOp data = update.data;
  if (!data)
    return AxisList(getSharding(update.parameter).getFlatAxes());
  return dataAxesOf(update.parameter, getMesh(update.parameter.getOwner()->getParentOp()));
}

static ArrayAttr toArray(OpBuilder &builder, const AxisList &axes) {
  return builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
}

RankedTensorType OptimizerStep::heldType(const Update &update) const {
  return withSharding(update.parameter.getType(), getSharding(update.parameter).withFlat(flatAxes(update)));
}

Type OptimizerStep::changedType(const Update &update) const {
  PrecisionOp statement = precision;
  Type own = cast<RankedTensorType>(update.parameter.getType()).getElementType();
  Type master = statement ? statement.getMaster().value_or(own) : own;
  // A master that is not wider than the parameter would be a plain copy.
  return master.getIntOrFloatBitWidth() > own.getIntOrFloatBitWidth() ? master : own;
}

/// The value that was widened to `value`, if it has the wanted type: the conversion back would lose nothing.
static Value widenedFrom(Value value, Type element) {
  auto call = value.getDefiningOp<CallOp>();
  if (!call || (call.getTarget() != "aten._to_copy.default" && call.getTarget() != "aten.to.dtype"))
    return {};
  Value source = call.getOperand(0);
  bool isWanted = cast<RankedTensorType>(source.getType()).getElementType() == element;
  return isWanted && elementBytes(source.getType()) < elementBytes(value.getType()) ? source : Value();
}

Value OptimizerStep::converted(Value value, Type element, StringRef target) {
  auto type = cast<RankedTensorType>(value.getType());
  bool isConversion = target == "aten._to_copy.default";
  // Not for round_gradient: it rounds the values and keeps their type.
  if (isConversion && type.getElementType() == element)
    return value;
  if (Value narrow = isConversion ? widenedFrom(value, element) : Value())
    return narrow;
  NamedAttrList args;
  args.set("self", OperandRefAttr::get(builder.getContext(), 0));
  args.set("dtype", TypeAttr::get(element));
  Location location = precision ? precision.getLoc() : statement.getLoc();
  return CallOp::create(builder, location, withSharding(type.clone(element), {}), builder.getStringAttr(target), value,
                        args.getDictionary(builder.getContext()), StringAttr(), builder.getUnitAttr())
      .getResult(0);
}

Value OptimizerStep::convertedWhereMade(Value value, Type element, StringRef target) {
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointAfterValue(value);
  return converted(value, element, target);
}

static bool isNarrow(Type element) { return element.getIntOrFloatBitWidth() <= 16; }

void OptimizerStep::reduce(Update &update) {
  auto match = update.gradient.getDefiningOp<MatchOp>();
  OpBuilder::InsertionGuard restore(builder);
  // The match becomes the reduction. The conversion and the scale must come before it, so they replace its operand.
  if (match)
    builder.setInsertionPoint(match);
  Type changed = changedType(update);
  std::optional<Type> stated = precision ? precision.getReduce() : std::nullopt;
  // The reduction runs in the stated type, else in the type that is changed: a sum that is rounded first would lose
  // what the master is for.
  Value addend = convertedWhereMade(match ? match.getGradient() : update.gradient, stated.value_or(changed));
  DataOp data = dataOf(update.parameter);
  // By default the loss contains the division by the number of ranks, so addends are small before they are summed. With
  // `average after collective` the addends are multiplied by this number, and their sum is divided by it: rounding is
  // then that of frameworks that divide last.
  std::optional<uint64_t> ranks = data ? data.getAverageAfter() : std::nullopt;
  if (ranks)
    addend = times(addend, static_cast<double>(*ranks), data.getLoc());
  // Before the reduction, because afterwards the rank that produced a non-finite element is unknown.
  addend = guard.noted(addend, update.parameter);
  // 16-bit addends are computed in float32 unless the plan wants them rounded.
  if (stated && isNarrow(*stated))
    addend = convertedWhereMade(addend, *stated, "meshplan.round_gradient");
  ArrayAttr axes = update.data ? toArray(builder, flatAxes(update)) : ArrayAttr();
  update.gradient =
      MatchOp::create(builder, update.gradient.getLoc(), withoutSharding(addend), addend, update.parameter, axes);
  update.gradient = converted(update.gradient, changed);
  if (ranks)
    update.gradient = times(update.gradient, 1.0 / static_cast<double>(*ranks), data.getLoc());
}

Value OptimizerStep::times(Value value, double factor, Location location) {
  return StepCall("aten.mul.Scalar", builder, location)
      .tensor("self", value)
      .number("other", factor)
      .make(withoutSharding(value));
}

void OptimizerStep::hold(Update &update) {
  update.held = update.parameter;
  if (changedType(update) != cast<RankedTensorType>(update.parameter.getType()).getElementType())
    update.held = update.master = addState(update, "master", changedType(update), /*copies=*/true);
  DataOp data = update.data;
  // A master is created as a flat state, so it needs no slice.
  if (!data || update.master)
    return;
  AxisList flat = flatAxes(update);
  int64_t rank = cast<RankedTensorType>(update.parameter.getType()).getRank();
  // The parameter is replicated, but the rank updates only its flat shard of it.
  update.held = ConstrainOp::create(builder, data.getLoc(), withoutSharding(update.parameter), update.parameter,
                                    ShardingAttr::getReplicated(builder.getContext(), rank).withFlat(flat),
                                    toArray(builder, flat), data.getTextAttr());
}

Value OptimizerStep::newParameter(const Update &update, Value changed) {
  if (!update.data && !update.master)
    return changed;
  DataOp data = update.data;
  Location location = data ? data.getLoc() : precision.getLoc();
  Value stored = converted(changed, cast<RankedTensorType>(update.parameter.getType()).getElementType());
  // A match to the parameter's layout is the all-gather of the updated shards.
  if (data)
    stored = MatchOp::create(builder, location, withoutSharding(stored), stored, update.parameter, ArrayAttr());
  return StepCall("meshplan.assign", builder, location)
      .tensor("self", update.parameter)
      .tensor("source", stored)
      .build(withoutSharding(stored))
      .getResult(0);
}

void OptimizerStep::add() {
  guard.scaleLoss();
  for (Update &update : updates) {
    DataOp data = dataOf(update.parameter);
    if (data && data.getShard() != DataStage::replicated && !isStoredDivided(update.parameter))
      update.data = data;
    if (update.data && flatAxes(update).empty())
      update.data = {}; // nothing is divided on one rank
    reduce(update);
    hold(update);
  }
  // All gradients must be counted and summed before the first update: its factor depends on all of them.
  for (const Update &update : updates)
    guard.count(update.gradient, divisionOf(update));
  nonfinite = guard.total();
  factor = statement.getClip() ? clipFactor() : scaleFactor();
  for (const Update &update : updates)
    change(update);
  rewriteResults();
}

BlockArgument OptimizerStep::addArgument(RankedTensorType type, ArrayRef<NamedAttribute> attributes) {
  return states.add(type, attributes, statement.getLoc());
}

Value OptimizerStep::setting(const Twine &name, double value, base::RateScheduleAttr schedule) {
  Value &argument = settings[name.str()];
  if (!argument) {
    states.write();
    argument = settingArgument(step, name.str(), value, /*isPlaced=*/true, statement.getLoc(), schedule);
  }
  return argument;
}

/// Groups with a learning rate of their own have a setting of their own.
Value OptimizerStep::learningRate(const Update &update) {
  double rate = base::numberOf(update.numbers.getLr());
  // A run that changes the common rate changes all groups that share it.
  bool isCommon = rate == base::numberOf(cast<OptimizerGroupAttr>(statement.getGroups()[0]).getLr());
  return setting(isCommon ? "optimizer.lr" : "optimizer.group" + Twine(update.group) + ".lr", rate,
                 statement.getScheduleAttr());
}

BlockArgument OptimizerStep::state(const Update &update, StringRef name) {
  std::optional<Type> stated = precision ? precision.getState() : std::nullopt;
  return addState(update, name, stated.value_or(changedType(update)), /*copies=*/false);
}

BlockArgument OptimizerStep::addState(const Update &update, StringRef name, Type element, bool copies) {
  auto names = argAttr<attr::Names>(step, update.parameter.getArgNumber());
  std::string own = (cast<StringAttr>(names[0]).getValue() + "." + name).str();
  SmallVector<NamedAttribute> attributes{
      named<attr::Kind>(ArgumentKindAttr::get(builder.getContext(), ArgumentKind::state)),
      named<attr::Names>(builder.getStrArrayAttr({own})), named<attr::Of>(referenceTo(update.parameter))};
  if (copies)
    attributes.push_back(named<attr::Copies>(builder.getUnitAttr()));
  if (DataOp data = dataOf(update.parameter); data && data.getOffloadOptimizer())
    attributes.push_back(named<attr::Host>(builder.getUnitAttr()));
  return addArgument(heldType(update).clone(element), attributes);
}

AxisList OptimizerStep::divisionOf(const Update &update) const {
  AxisList axes;
  for (DimShardingAttr dim : getSharding(update.parameter).getDims())
    llvm::append_range(axes, dim.getAxes());
  llvm::append_range(axes, flatAxes(update));
  return axes;
}

Value OptimizerStep::clipFactor() {
  Location location = statement.getLoc();
  auto typeOf = [&](const Update &each) -> Type {
    return elementBytes(each.gradient.getType()) == 8 ? builder.getF64Type() : builder.getF32Type();
  };
  // Squares are summed in the type of their gradient, at least f32, and in f64 if any gradient is f64.
  bool anyIsDouble = llvm::any_of(updates, [&](const Update &each) { return typeOf(each).isF64(); });
  DividedSum squares(builder, location);
  for (const Update &update : updates) {
    Value square = StepCall("meshplan.square_sum", builder, location)
                       .tensor("self", update.gradient)
                       .make(RankedTensorType::get({}, typeOf(update)));
    squares.add(divisionOf(update), converted(square, anyIsDouble ? builder.getF64Type() : builder.getF32Type()));
  }
  Value total = squares.total();
  // The norm is that of the scaled gradients. The call divides by the scale, so one factor both unscales and clips.
  StepCall call("meshplan.clip_factor", builder, location);
  call.tensor("squared_norm", total).number("limit", statement.getClip()->convertToDouble());
  if (guard.scale())
    call.tensor("scale", guard.scale());
  return call.make(total.getType());
}

Value OptimizerStep::scaleFactor() {
  if (!guard.scale())
    return {};
  // Without clipping the factor only undoes the scale of the loss.
  return StepCall("aten.reciprocal.default", builder, statement.getLoc())
      .tensor("self", guard.scale())
      .make(withoutSharding(guard.scale()));
}

/// Adds the arguments that every optimizer call takes if the plan has them.
void OptimizerStep::addCommon(StepCall &call) {
  if (factor)
    call.tensor("factor", factor);
  if (nonfinite)
    call.tensor("nonfinite", nonfinite);
}

/// Skipped steps do not count.
Value OptimizerStep::stepNumber() { return setting(nonfinite ? program_names::optimizerStep : program_names::step, 1); }

void OptimizerStep::change(const Update &update) {
  if (statement.getKind() == OptimizerKind::sgd)
    changeBySgd(update);
  else
    changeByAdam(update);
}

void OptimizerStep::changeByAdam(const Update &update) {
  BlockArgument average = state(update, "exp_avg"), square = state(update, "exp_avg_sq");
  StepCall call("meshplan.adam", builder, statement.getLoc());
  call.tensor("parameter", update.held).tensor("gradient", update.gradient).tensor("average", average);
  call.tensor("square_average", square).tensor("learning_rate", learningRate(update)).tensor("step", stepNumber());
  addCommon(call);
  for (auto [name, value] : {std::pair("beta1", update.numbers.getBeta1()),
                             {"beta2", update.numbers.getBeta2()},
                             {"eps", update.numbers.getEps()},
                             {"weight_decay", update.numbers.getWeightDecay()}})
    call.number(name, base::numberOf(value));
  CallOp made = call.flag("decoupled", statement.getKind() == OptimizerKind::adamw)
                    .build({withoutSharding(update.held), withoutSharding(average), withoutSharding(square)});
  give(update, made.getResults(), {average, square});
}

void OptimizerStep::changeBySgd(const Update &update) {
  OptimizerGroupAttr numbers = update.numbers;
  bool hasMomentum = base::numberOf(numbers.getMomentum()) != 0;
  StepCall call(hasMomentum ? "meshplan.sgd_momentum" : "meshplan.sgd", builder, statement.getLoc());
  call.tensor("parameter", update.held).tensor("gradient", update.gradient);
  call.tensor("learning_rate", learningRate(update)).number("weight_decay", base::numberOf(numbers.getWeightDecay()));
  addCommon(call);
  Type type = withoutSharding(update.held);
  if (!hasMomentum)
    return give(update, call.build(type).getResults(), {});
  BlockArgument momentum = state(update, "momentum_buffer");
  // PyTorch's first step sets the buffer to the gradient, without dampening: the kernel needs the step number for it.
  call.tensor("momentum", momentum).tensor("step", stepNumber()).number("rate", base::numberOf(numbers.getMomentum()));
  call.number("dampening", base::numberOf(numbers.getDampening())).flag("nesterov", numbers.getNesterov());
  give(update, call.build({type, withoutSharding(momentum)}).getResults(), {momentum});
}

void OptimizerStep::give(const Update &update, ValueRange values, ArrayRef<BlockArgument> states) {
  results.push_back({newParameter(update, values.front()), update.parameter});
  if (update.master)
    results.push_back({values.front(), update.master});
  for (auto [value, state] : llvm::zip_equal(values.drop_front(), states))
    results.push_back({value, state});
}

void OptimizerStep::rewriteResults() {
  states.write();
  Operation *output = step.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (unsigned index = 0; index < step.getNumResults(); ++index)
    if (!resultAttr<attr::GradientOf>(step, index)) {
      values.push_back(output->getOperand(index));
      attributes.push_back(step.getResultAttrDict(index));
    }
  for (auto [value, argument] : results) {
    values.push_back(value);
    attributes.push_back(builder.getDictionaryAttr(named<attr::Updates>(referenceTo(argument))));
  }
  SmallVector<Value> replaced(output->getOperands());
  output->setOperands(values);
  // Matches of gradients that reduce has replaced have no readers left.
  for (Value value : replaced)
    if (auto match = value.getDefiningOp<MatchOp>(); match && match.use_empty())
      match.erase();
  step.setType(builder.getFunctionType(step.getArgumentTypes(), ValueRange(values).getTypes()));
  step.setResAttrsAttr(builder.getArrayAttr(attributes));
}
