//===- split_microbatches.cpp - programs for microbatches -----------------===//
//
// See SplitMicrobatches in passes.td.
//
// Example: the mean loss over all tokens of a batch in 3 microbatches. The
// number of tokens is a sum over time that the loss of every microbatch divides
// by. So there are two sweeps over the batch, in the timeline of @step:
//
//   program   microbatches  computes
//   @count0   0, 1, 2       tokens += tokens of the microbatch
//   @step     0, 1, 2       loss and gradients += those of the microbatch; after
//                           the last one the optimizer step
//
// One body serves all microbatches: `schedule` finds what only the last one runs
// (instances.h), from the accumulators that this pass adds.
//
//===----------------------------------------------------------------------===//

#include "compiler/support/layer_names.h"
#include "compiler/transforms/partition/passes.h"
#include "compiler/transforms/partition/sample_numbers.h"
#include "compiler/transforms/partition/sweeps.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/schema/program_names.h"

namespace meshplan {
#define GEN_PASS_DEF_SPLITMICROBATCHES
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// Reports an error of a step in `count` microbatches, with an alternative.
static LogicalResult refuse(Operation *op, const Twine &message, const Twine &otherwise, int64_t count) {
  InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.attachNote(op->getLoc()) << "help: leave out 'microbatches " << count << "', or " << otherwise;
  return diagnostic;
}

static constexpr StringLiteral mixingHelp = "write 'mean' after it to take the mean of the losses of microbatches";

static bool isInTime(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) { return plan::isInTime(type); }) ||
         llvm::any_of(op->getResultTypes(), [](Type type) { return plan::isInTime(type); });
}

namespace {

/// Turns a copy of the step, in which time is an axis, into the program of one sweep; the last sweep is the step
/// itself.
class SweepMaker {
public:
  /// `prefix` begins the names of accumulators.
  SweepMaker(func::FuncOp function, StringRef prefix, MeshOp mesh, int64_t count)
      : function(function), prefix(prefix), mesh(mesh), count(count),
        builder(function.getBody().front().getTerminator()), accumulators(function) {}

  /// The number of the sweep, and whether this is the step, which continues with the sums after its last microbatch.
  LogicalResult run(int64_t sweep, bool isStep);

private:
  BlockArgument addAccumulator(AllReduceOp reduce, const Twine &name);
  SmallVector<NamedAttribute> attributesOf(AllReduceOp reduce);
  void accumulate(AllReduceOp reduce, const Twine &name, bool isReady);
  LogicalResult localize(Operation *op);
  Value takeMicrobatch(Operation *op, Value whole, int64_t dim, RankedTensorType type);
  void takePart(SliceOp slice);
  void leaveOrEnter();
  RankedTensorType withoutTime(RankedTensorType type) const;
  void eraseDead();
  LogicalResult finish(bool isStep);

  std::string nameOf(size_t sum) const;

  func::FuncOp function;
  StringRef prefix;
  MeshOp mesh;
  int64_t count;
  OpBuilder builder;
  ArgumentAdder accumulators;
  SmallVector<std::pair<Value, BlockArgument>> sums;
};

} // namespace

BlockArgument SweepMaker::addAccumulator(AllReduceOp reduce, const Twine &name) {
  SmallVector<NamedAttribute> attributes = attributesOf(reduce);
  attributes.push_back(named<attr::Kind>(ArgumentKindAttr::get(builder.getContext(), ArgumentKind::accumulator)));
  attributes.push_back(named<attr::Names>(builder.getStrArrayAttr({name.str()})));
  return accumulators.add(reduce.getType(), attributes, function.getLoc());
}

/// Programs share parameters but not accumulators.
std::string SweepMaker::nameOf(size_t sum) const { return prefix.str() + "microbatches.sum" + std::to_string(sum); }

/// True if the microbatches of each dim are equal numbers of blocks, as for samples.
static bool hasEqualMicrobatches(Type type, int64_t count) {
  ShardingAttr sharding = getSharding(type);
  for (auto [extent, dim] : llvm::zip(cast<RankedTensorType>(type).getShape(), sharding.getDims()))
    // One program runs all microbatches, so its extents must hold for each of them.
    if (llvm::any_of(dim.getAxes(), isTime) &&
        (!dim.getParts().empty() || isShared(dim) || extent % (count * dim.getUnit()) != 0))
      return false;
  return true;
}

/// Reports a dim for which hasEqualMicrobatches is false, with its block size.
static LogicalResult refuseSizes(Operation *op, Type type, int64_t count) {
  for (auto [extent, dim] : llvm::zip(cast<RankedTensorType>(type).getShape(), getSharding(type).getDims())) {
    if (llvm::none_of(dim.getAxes(), isTime))
      continue;
    auto call = dyn_cast<CallOp>(op);
    std::string made = (call ? operatorText(call.getTarget(), call.getModule()) : "a layout of the plan") +
                       " has a dim of " + std::to_string(extent);
    if (!dim.getParts().empty() || isShared(dim))
      return refuse(op,
                    made + " that concatenates values of several batches: a microbatch would take elements "
                           "of each, which is not implemented",
                    mixingHelp, count);
    std::string blocks = std::to_string(extent / dim.getUnit()) + " blocks of " + std::to_string(dim.getUnit());
    if (extent % (count * dim.getUnit()) != 0)
      return refuse(op, made + ": its " + blocks + " elements cannot be split evenly into microbatches",
                    "write a number that divides " + std::to_string(extent / dim.getUnit()), count);
  }
  llvm_unreachable("all microbatches are equal");
}

RankedTensorType SweepMaker::withoutTime(RankedTensorType type) const {
  ShardingAttr sharding = getSharding(type);
  if (!plan::isInTime(type))
    return type;
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  for (auto [extent, dim] : llvm::zip(shape, dims)) {
    SmallVector<AxisRefAttr> rest;
    llvm::copy_if(dim.getAxes(), std::back_inserter(rest), [](AxisRefAttr axis) { return !isTime(axis); });
    if (rest.size() == dim.getAxes().size())
      continue;
    extent /= count;
    dim = divideDim(extent, rest, mesh, dim.getUnit());
  }
  SmallVector<AxisRefAttr> partial;
  llvm::copy_if(sharding.getPartialAxes(), std::back_inserter(partial), [](AxisRefAttr axis) { return !isTime(axis); });
  ShardingAttr own = ShardingAttr::get(type.getContext(), dims).withPartial(sharding.getReduction(), partial);
  return RankedTensorType::get(shape, type.getElementType(),
                               own.withFlat(sharding.getFlatAxes()).withRouted(sharding.getRouted()));
}

/// The attributes from which the phase `group` knows the parameter of a gradient.
SmallVector<NamedAttribute> SweepMaker::attributesOf(AllReduceOp reduce) {
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {attr::Data::getNameStr(), attr::Unit::getNameStr()})
    if (Attribute value = reduce->getAttr(name))
      attributes.push_back(builder.getNamedAttr(name, value));
  return attributes;
}

void SweepMaker::accumulate(AllReduceOp reduce, const Twine &name, bool isReady) {
  BlockArgument sum = addAccumulator(reduce, name);
  // A sum of an earlier sweep: its accumulator has the complete value, and all that computes the addend is erased as
  // dead in this sweep.
  if (isReady) {
    reduce.replaceAllUsesWith(Value(sum));
    return;
  }
  OpBuilder here(reduce);
  NamedAttrList args;
  args.set("self", OperandRefAttr::get(builder.getContext(), 0));
  args.set("addend", OperandRefAttr::get(builder.getContext(), 1));
  auto call = CallOp::create(here, reduce.getLoc(), TypeRange(reduce.getType()),
                             builder.getStringAttr("meshplan.accumulate"), ValueRange{sum, reduce.getInput()},
                             args.getDictionary(builder.getContext()), StringAttr(), builder.getUnitAttr());
  reduce.replaceAllUsesWith(call.getResult(0));
  sums.push_back({call.getResult(0), sum});
}

/// Replaces `op` by a call that takes the microbatch of a whole value.
Value SweepMaker::takeMicrobatch(Operation *op, Value whole, int64_t dim, RankedTensorType type) {
  OpBuilder here(op);
  NamedAttrList args;
  args.set("self", OperandRefAttr::get(builder.getContext(), 0));
  args.set("index", OperandRefAttr::get(builder.getContext(), 1));
  args.set("dim", builder.getI64IntegerAttr(dim));
  args.set("count", builder.getI64IntegerAttr(count));
  Value index = settingArgument(function, program_names::microbatch, 0, /*isPlaced=*/true, function.getLoc());
  return CallOp::create(here, op->getLoc(), TypeRange(type), builder.getStringAttr("meshplan.take_microbatch"),
                        ValueRange{whole, index}, args.getDictionary(builder.getContext()), StringAttr(), UnitAttr())
      .getResult(0);
}

/// The rank's shard of the microbatch of a whole value. A slice over the axes before time comes first; a slice of the
/// microbatch over the axes after time comes last.
void SweepMaker::takePart(SliceOp slice) {
  SmallVector<AxisRefAttr> axes(slice.getAxes().getAsRange<AxisRefAttr>());
  // For a dim over {dp, time, tp}: dp has divided the batch, so the microbatch is taken from the shard of dp, and its
  // samples are then divided over tp.
  size_t before = llvm::find_if(axes, isTime) - axes.begin(), after = axes.size() - before - 1;
  OpBuilder here(slice);
  int64_t dim = *slice.getDim();
  auto type = cast<RankedTensorType>(slice.getType());
  auto withoutMinor = [&](size_t count) {
    ShardingAttr own = getSharding(type);
    own = own.withDim(dim, dropMinorAxes(type.getDimSize(dim), own.getDims()[dim], count, mesh));
    return cast<RankedTensorType>(withSharding(type, own));
  };
  auto sliced = [&](Value value, RankedTensorType part, ArrayRef<AxisRefAttr> over) -> Value {
    if (over.empty())
      return value;
    ArrayAttr list = builder.getArrayAttr(SmallVector<Attribute>(over.begin(), over.end()));
    return SliceOp::create(here, slice.getLoc(), part, value, list, slice.getCauseAttr(), slice.getDimAttr());
  };
  Value whole = sliced(slice.getInput(), withoutMinor(after + 1), ArrayRef(axes).take_front(before));
  Value microbatch = takeMicrobatch(slice, whole, dim, withoutTime(withoutMinor(after)));
  slice.getResult().replaceAllUsesWith(sliced(microbatch, withoutTime(type), ArrayRef(axes).take_back(after)));
  slice.erase();
}

/// In a program of one microbatch: takes the microbatch of the inputs, and removes the ops that mark values of one
/// microbatch.
void SweepMaker::leaveOrEnter() {
  for (auto enter : llvm::make_early_inc_range(function.getOps<EnterMicrobatchOp>())) {
    enter.getResult().replaceAllUsesWith(
        takeMicrobatch(enter, enter.getInput(), enter.getDim(), enter.getResult().getType()));
    enter.erase();
  }
  for (auto leave : llvm::make_early_inc_range(function.getOps<LeaveMicrobatchOp>())) {
    leave.getResult().replaceAllUsesWith(leave.getInput());
    leave.erase();
  }
}

/// The first call that reads the value, through collectives; null if there is only an output.
static CallOp readerOf(Operation *op) {
  while (!op->use_empty()) {
    op = *op->user_begin();
    if (auto call = dyn_cast<CallOp>(op))
      return call;
  }
  return {};
}

/// Reports an operator that would have to read several microbatches at once. The message for a runtime derivative
/// blames the missing rule: its operator does handle samples one by one, or would have been refused first.
static LogicalResult refuseSamples(Operation *op, int64_t count) {
  CallOp reader = readerOf(op);
  std::string module = reader ? reader.getModule().value_or("").str() : "";
  std::string where = module.empty() ? "" : " in '" + module + "'",
              text = "an output reads samples of several microbatches";
  StringRef target = reader ? reader.getTarget() : StringRef();
  bool isDerivative = target.consume_front("vjp.");
  if (isDerivative)
    text = "the derivative of '" + target.str() + "'" + where + " has no rule by sample";
  else if (reader)
    text = "operator '" + target.str() + "'" + where + " reads samples of several microbatches";
  return refuse(op, "microbatches cannot be concatenated: " + text,
                isDerivative ? "write the module with other operators" : mixingHelp.str(), count);
}

LogicalResult SweepMaker::localize(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op);
      slice && slice.getDim() && llvm::any_of(slice.getAxes().getAsRange<AxisRefAttr>(), isTime))
    return takePart(slice), success();
  if (ArrayAttr axes = stepAxes(op); axes && llvm::any_of(axes.getAsRange<AxisRefAttr>(), isTime))
    return refuseSamples(op, count);
  for (Value result : op->getResults())
    if (plan::isInTime(result.getType()) && !hasEqualMicrobatches(result.getType(), count))
      return refuseSizes(op, result.getType(), count);
  for (Value result : op->getResults())
    result.setType(withoutTime(cast<RankedTensorType>(result.getType())));
  return success();
}

void SweepMaker::eraseDead() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Sums become results. A sweep has no other results, and only the arguments that they need.
LogicalResult SweepMaker::finish(bool isStep) {
  Operation *output = function.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  if (isStep) {
    llvm::append_range(values, output->getOperands());
    for (unsigned number = 0; number < values.size(); ++number)
      attributes.push_back(function.getResultAttrDict(number));
  }
  for (auto [value, sum] : sums) {
    values.push_back(value);
    attributes.push_back(builder.getDictionaryAttr(named<attr::Updates>(referenceTo(sum))));
  }
  output->setOperands(values);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
  eraseDead();
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unread[argument.getArgNumber()] = !isStep && argument.use_empty();
  return function.eraseArguments(unread);
}

LogicalResult SweepMaker::run(int64_t sweep, bool isStep) {
  Sweeps sweeps(function);
  for (auto [number, sum] : llvm::enumerate(sweeps.getSums()))
    if (sum.sweep <= sweep)
      accumulate(sum.op, nameOf(number), /*isReady=*/sum.sweep < sweep);
  accumulators.write();
  // Ops that only other sweeps need are erased before they are checked: an operator that one sweep does not run must
  // not refuse it.
  if (failed(finish(isStep)))
    return failure();
  leaveOrEnter();
  // Collected before any type loses its time axis.
  SmallVector<Operation *> timed;
  for (Operation &op : function.getBody().front())
    if (::isInTime(&op))
      timed.push_back(&op);
  // Arguments before types: they refer to the axes of the operands, which localize removes.
  SmallVector<Operation *> added;
  for (Operation *op : timed)
    if (auto call = dyn_cast<CallOp>(op)) {
      std::optional<Operation *> numbers = numberSamples(call, mesh, count);
      if (!numbers)
        return refuse(call,
                      "operator '" + call.getTarget() + "' counts samples, but its microbatches are split over ranks",
                      "gather before it the axes that split the samples of a rank further", count);
      if (*numbers != call)
        added.push_back(*numbers);
    }
  llvm::append_range(timed, added);
  return success(llvm::all_of(timed, [&](Operation *op) { return succeeded(localize(op)); }));
}

/// Only sums can be accumulated: there is no program yet for a maximum or minimum over all samples.
static LogicalResult checkSums(const Sweeps &sweeps, int64_t count) {
  for (auto [op, sweep] : sweeps.getSums()) {
    Reduction reduction = getSharding(op->getOperand(0)).getReduction();
    if (reduction == Reduction::sum)
      continue;
    auto made = op->getOperand(0).getDefiningOp<CallOp>();
    return refuse(op,
                  "microbatches are accumulated as a sum, but " +
                      (made ? operatorText(made.getTarget(), made.getModule()) : "this") + " is the " +
                      stringifyReduction(reduction) + " of all of them",
                  mixingHelp, count);
  }
  return success();
}

/// Marks the accumulations of gradients with the data statement and the unit of their parameter.
static void markGradients(func::FuncOp step) {
  ArgumentTable arguments(step);
  step.walk([&](CallOp call) {
    auto numberOf = [&](StringRef name) { return call.getArgs().getAs<OperandRefAttr>(name); };
    OperandRefAttr parameter = numberOf("parameter"), gradient = numberOf("gradient");
    if (!parameter || !gradient)
      return;
    auto sourceOf = [&](Value value, auto stops) {
      while (Operation *op = value.getDefiningOp()) {
        if (op->getNumOperands() != 1 || stops(op))
          break;
        value = op->getOperand(0);
      }
      return value;
    };
    auto argument =
        dyn_cast<BlockArgument>(sourceOf(call.getOperands()[parameter.getIndex()], [](Operation *) { return false; }));
    Operation *sum = sourceOf(call.getOperands()[gradient.getIndex()], isOverMicrobatches).getDefiningOp();
    if (!argument || !sum || !isOverMicrobatches(sum))
      return;
    argument = arguments.parameterOf(argument);
    for (StringRef name : {attr::Data::getNameStr(), attr::Unit::getNameStr()})
      if (Attribute value = step.getArgAttr(argument.getArgNumber(), name))
        sum->setAttr(name, value);
  });
}

/// Removes the axis of time, the last one, which no value uses any more.
static void dropTime(MeshOp mesh) {
  Builder builder(mesh.getContext());
  SmallVector<Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
  mesh.setAxesAttr(builder.getArrayAttr(ArrayRef(axes).drop_back()));
}

namespace {

struct SplitMicrobatchesPass : meshplan::impl::SplitMicrobatchesBase<SplitMicrobatchesPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    auto step = programOf(getOperation(), base::ProgramRole::step);
    if (!mesh || mesh.findAxis(timeAxisName) < 0 || !step)
      return;
    markGradients(step);
    for (base::ProgramRole role : {base::ProgramRole::step, base::ProgramRole::eval})
      if (func::FuncOp function = programOf(getOperation(), role); function && failed(split(function, mesh)))
        return signalPassFailure();
    dropTime(mesh);
  }

  /// Inserts the sweeps before the function, which becomes the last sweep and the end of the step.
  static LogicalResult split(func::FuncOp function, MeshOp mesh) {
    Sweeps sweeps(function);
    // A step has plain names, another program its own name in front.
    bool isStep = roleOf(function) == base::ProgramRole::step;
    std::string prefix = isStep ? "" : function.getSymName().str() + ".";
    int64_t count = mesh.getAxisSize(mesh.findAxis(timeAxisName)), last = sweeps.getLast();
    if (failed(checkSums(sweeps, count)))
      return failure();
    // Each sweep is made from the untouched function; the function itself is changed last.
    SmallVector<Attribute> timeline;
    for (int64_t number = 0; number < last; ++number) {
      func::FuncOp sweep = makeSweep(function, prefix, number);
      addInstances(sweep, count, timeline);
      if (failed(SweepMaker(sweep, prefix, mesh, count).run(number, /*isStep=*/false)))
        return failure();
    }
    addInstances(function, count, timeline);
    setOpAttr<attr::Timeline>(function, ArrayAttr::get(function.getContext(), timeline));
    return SweepMaker(function, prefix, mesh, count).run(last, /*isStep=*/true);
  }

  static func::FuncOp makeSweep(func::FuncOp function, StringRef prefix, int64_t number) {
    func::FuncOp sweep = function.clone();
    sweep.setSymName((prefix + "count" + Twine(number)).str());
    setRole(sweep, base::ProgramRole::microbatch);
    // Only the step applies gradients, so only it is skipped.
    sweep->removeAttr(attr::Guard::getNameStr());
    OpBuilder(function).insert(sweep);
    return sweep;
  }

  /// Adds one instance of the function for each microbatch.
  static void addInstances(func::FuncOp function, int64_t count, SmallVector<Attribute> &timeline) {
    auto name = FlatSymbolRefAttr::get(function.getSymNameAttr());
    for (int64_t microbatch = 0; microbatch < count; ++microbatch)
      timeline.push_back(base::InstanceAttr::get(function.getContext(), name, microbatch));
  }
};

} // namespace
