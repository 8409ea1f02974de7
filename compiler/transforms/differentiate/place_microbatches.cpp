//===- place_microbatches.cpp - makes time an axis of the mesh ------------===//
//
// See PlaceMicrobatches in passes.td.
//
//===----------------------------------------------------------------------===//
//
// Two meanings of microbatches. Placer keeps the step of the whole batch and divides its samples over time: the result
// is that of the batch, as the loss of the model defines it, and propagation finds what must be summed over time.
// MeanPlacer takes the step as that of one microbatch and averages losses and gradients: any operator may then read all
// samples of its microbatch.
//
// Example of Placer's two orders: 12 samples, dp = 2, 3 microbatches.
//
//   by ranks first   rank 0: samples 0-5, its microbatches 0 1 | 2 3 | 4 5
//   by runs first    microbatch 0: samples 0-3, rank 0 has 0 1 and rank 1 has 2 3
//
// By ranks first, no rank needs data of another. By runs first, gathering over dp within a microbatch gives whole
// samples in their order, which layers need whose weights are divided over dp.

#include "compiler/sharding/axes.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/step_call.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/schema/program_names.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEMICROBATCHES
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The inputs of the step that have samples, and their batch dim.
static SmallVector<std::pair<BlockArgument, int64_t>> findBatches(func::FuncOp step) {
  SmallVector<std::pair<BlockArgument, int64_t>> batches;
  for (BlockArgument argument : step.getArguments())
    if (std::optional<unsigned> dim = batchDimOf(argument); dim && argumentKind(argument) == ArgumentKind::input)
      batches.push_back({argument, *dim});
  return batches;
}

static void addTimeAxis(MicrobatchesOp statement) {
  Builder builder(statement.getContext());
  MeshOp mesh = getMesh(statement);
  SmallVector<Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
  axes.push_back(MeshAxisAttr::get(builder.getContext(), timeAxisName, statement.getCount()));
  mesh.setAxesAttr(builder.getArrayAttr(axes));
}

static std::string textOf(MicrobatchesOp statement) {
  return "microbatches " + std::to_string(statement.getCount()) + (statement.getMean() ? " mean" : "");
}

namespace {

/// Divides the batch of one step over time.
class Placer {
public:
  Placer(func::FuncOp step, MicrobatchesOp statement)
      : step(step), statement(statement), builder(OpBuilder::atBlockBegin(&step.getBody().front())) {}

  LogicalResult run() {
    auto batches = findBatches(step);
    // One answer for all inputs: labels must be those of the samples of the same microbatch.
    bool takesRuns =
        llvm::any_of(batches, [&](auto batch) { return dividesWeights(axesOf(batch.first, batch.second)); });
    for (auto [input, dim] : batches)
      if (failed(divide(input, dim, takesRuns)))
        return failure();
    step.setType(builder.getFunctionType(step.getBody().getArgumentTypes(), step.getResultTypes()));
    return success();
  }

private:
  static ArrayRef<AxisRefAttr> axesOf(BlockArgument input, int64_t dim) {
    return getSharding(input).getDims()[dim].getAxes();
  }

  /// True if a weight is divided over one of the axes.
  bool dividesWeights(ArrayRef<AxisRefAttr> axes) {
    auto isDivided = [&](DimShardingAttr dim) {
      return llvm::any_of(dim.getAxes(), [&](AxisRefAttr axis) { return overlapsAny(axes, axis); });
    };
    return llvm::any_of(step.getArguments(), [&](BlockArgument argument) {
      ShardingAttr sharding = isWeight(argument) ? getSharding(argument) : ShardingAttr();
      return sharding && llvm::any_of(sharding.getDims(), isDivided);
    });
  }

  /// Divides the batch of an input. A microbatch has some samples of each rank's part of the batch. With `takesRuns` it
  /// is contiguous in the whole batch instead, and each rank holds a part of it: axes that also divide weights can then
  /// be gathered in each microbatch.
  LogicalResult divide(BlockArgument input, int64_t dim, bool takesRuns) {
    MeshOp mesh = getMesh(step);
    if (failed(checkEven(input, dim, mesh)))
      return failure();
    SmallVector<AxisRefAttr> axes{AxisRefAttr::get(builder.getContext(), timeAxisName)};
    if (takesRuns) {
      auto type = cast<RankedTensorType>(input.getType());
      llvm::append_range(axes, axesOf(input, dim));
      DimShardingAttr byRuns =
          EnterMicrobatchOp::divideBatch(type.getDimSize(dim), statement.getCount(), ArrayRef(axes).drop_front(), mesh);
      // The argument itself is laid out by runs, one part for each microbatch, so that taking a microbatch is a slice.
      input.setType(withSharding(type, getSharding(type).withDim(dim, byRuns)));
    }
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    ShardingAttr layout = ShardingAttr::getReplicated(builder.getContext(), rank).withDim(dim, axes);
    auto piece = ConstrainOp::create(builder, statement.getLoc(), withSharding(input.getType(), {}), input, layout,
                                     builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())),
                                     builder.getStringAttr(textOf(statement)));
    input.replaceAllUsesExcept(piece.getResult(), piece);
    return success();
  }

  /// Microbatches must have equal sizes, so that one program can run all of them.
  LogicalResult checkEven(BlockArgument input, size_t dim, MeshOp mesh) {
    auto type = cast<RankedTensorType>(input.getType());
    int64_t samples = type.getDimSize(dim), shards = shardCount(getSharding(type).getDims()[dim].getAxes(), mesh);
    int64_t needed = shards * statement.getCount();
    if (samples % needed == 0)
      return success();
    auto diagnostic = statement.emitError() << "the batch has " << samples << " samples, but " << statement.getCount()
                                            << " microbatches on " << shards << " data-parallel rank"
                                            << (shards == 1 ? "" : "s") << " need a multiple of " << needed;
    diagnostic.attachNote(input.getLoc()) << "the batch is here";
    diagnostic.attachNote(statement.getLoc())
        << "help: choose a number of microbatches that divides the samples per rank";
    return diagnostic;
  }

  func::FuncOp step;
  MicrobatchesOp statement;
  OpBuilder builder;
};

/// Turns the step of one microbatch into that of a batch, with the mean over the microbatches.
class MeanPlacer {
public:
  MeanPlacer(func::FuncOp step, MicrobatchesOp statement) : step(step), statement(statement) {}

  LogicalResult run();

private:
  void enter(BlockArgument input, int64_t dim);
  void divideSeed();
  void numberDraws();
  Value mean(Value value, OpBuilder &builder);
  Value leave(Value value, OpBuilder &builder);
  LogicalResult addUp(OpOperand &output);

  func::FuncOp step;
  MicrobatchesOp statement;
};

} // namespace

LogicalResult MeanPlacer::run() {
  numberDraws();
  divideSeed();
  for (auto [input, dim] : findBatches(step))
    enter(input, dim);
  Operation *outputs = step.getBody().front().getTerminator();
  for (OpOperand &output : outputs->getOpOperands())
    if (failed(addUp(output)))
      return failure();
  step.setType(FunctionType::get(step.getContext(), step.getBody().getArgumentTypes(), outputs->getOperandTypes()));
  return success();
}

/// Gives the input the samples of the whole batch.
void MeanPlacer::enter(BlockArgument input, int64_t dim) {
  auto own = cast<RankedTensorType>(input.getType());
  int64_t count = statement.getCount();
  SmallVector<int64_t> shape(own.getShape());
  shape[dim] *= count;
  ShardingAttr sharding = getSharding(own);
  ArrayRef<AxisRefAttr> axes = sharding.getDims()[dim].getAxes();
  sharding = sharding.withDim(dim, EnterMicrobatchOp::divideBatch(shape[dim], count, axes, getMesh(step)));
  input.setType(RankedTensorType::get(shape, own.getElementType(), sharding));
  auto builder = OpBuilder::atBlockBegin(&step.getBody().front());
  auto microbatch =
      EnterMicrobatchOp::create(builder, input.getLoc(), withSharding(own, {}), input, dim, statement.getCount());
  input.replaceAllUsesExcept(microbatch.getResult(), microbatch);
}

/// The gradient of the mean is that of the losses, divided by their number. Dividing the seed divides all gradients.
void MeanPlacer::divideSeed() {
  step.walk([&](CallOp call) {
    if (!call->hasAttr(attr::LossGradient::getNameStr()))
      return;
    NamedAttrList args(call.getArgs());
    double own = call.getArgs().getAs<FloatAttr>("fill_value").getValueAsDouble();
    args.set("fill_value", Builder(step.getContext()).getF64FloatAttr(own / static_cast<double>(statement.getCount())));
    call.setArgsAttr(args.getDictionary(step.getContext()));
  });
}

/// The random numbers of a microbatch follow those of the previous one.
void MeanPlacer::numberDraws() {
  SmallVector<CallOp> calls;
  step.walk([&](CallOp call) {
    if (drawCount(CallView::of(call)) > 0)
      calls.push_back(call);
  });
  for (CallOp call : calls) {
    Value microbatch = settingArgument(step, program_names::microbatch, 0, /*isPlaced=*/true, statement.getLoc());
    Builder builder(step.getContext());
    NamedAttrList args(call.getArgs());
    args.set("microbatch", OperandRefAttr::get(step.getContext(), call.getNumOperands()));
    args.set("drawn", builder.getI64IntegerAttr(drawCount(CallView::of(call))));
    call.getOperandsMutable().append(microbatch);
    call.setArgsAttr(args.getDictionary(step.getContext()));
  }
}

Value MeanPlacer::leave(Value value, OpBuilder &builder) {
  return LeaveMicrobatchOp::create(builder, statement.getLoc(), withSharding(value.getType(), {}), value,
                                   builder.getStringAttr(textOf(statement)));
}

/// The mean over microbatches of a number that each microbatch has for itself.
Value MeanPlacer::mean(Value value, OpBuilder &builder) {
  Value sum = leave(value, builder);
  return StepCall("aten.mul.Scalar", builder, statement.getLoc())
      .tensor("self", sum)
      .number("other", 1.0 / static_cast<double>(statement.getCount()))
      .make(withSharding(value.getType(), {}));
}

/// Sums a gradient before the match that lays it out, and any other output at the end.
LogicalResult MeanPlacer::addUp(OpOperand &output) {
  unsigned number = output.getOperandNumber();
  if (resultAttr<attr::GradientOf>(step, number)) {
    // Before the match, so that microbatches accumulate addends of ranks and the collective runs once. After it, each
    // microbatch would reduce.
    auto match = output.get().getDefiningOp<MatchOp>();
    OpBuilder builder(match);
    match.getGradientMutable().assign(leave(match.getGradient(), builder));
    return success();
  }
  if (auto pairs = resultAttr<attr::Pairs>(step, number)) {
    // Numbers of tokens are those of the whole batch.
    SmallVector<int64_t> ofBatch(pairs.asArrayRef());
    for (int64_t &each : ofBatch)
      each *= statement.getCount();
    setResultAttr<attr::Pairs>(step, number, DenseI64ArrayAttr::get(step.getContext(), ofBatch));
    OpBuilder builder(output.getOwner());
    output.set(leave(output.get(), builder));
    return success();
  }
  auto type = cast<RankedTensorType>(output.get().getType());
  if (!isa<FloatType>(type.getElementType())) {
    auto name = resultAttr<attr::Name>(step, number);
    auto diagnostic = statement.emitError() << "output '" << (name ? name.getValue() : "") << "' is a scalar of type "
                                            << type.getElementType() << ", which has no mean over microbatches";
    diagnostic.attachNote(statement.getLoc()) << "help: return it from the model as a float, or not at all";
    return diagnostic;
  }
  OpBuilder builder(output.getOwner());
  output.set(mean(output.get(), builder));
  return success();
}

namespace {

struct PlaceMicrobatchesPass : meshplan::impl::PlaceMicrobatchesBase<PlaceMicrobatchesPass> {
  void runOnOperation() final {
    SmallVector<MicrobatchesOp> statements(getOperation().getOps<MicrobatchesOp>());
    if (!statements.empty() && programOf(getOperation(), base::ProgramRole::step))
      addTimeAxis(statements.front());
    // The step comes first. An evaluation fails for the same reasons, which are then reported only once.
    for (base::ProgramRole role : {base::ProgramRole::step, base::ProgramRole::eval})
      if (func::FuncOp function = programOf(getOperation(), role);
          function && !statements.empty() && failed(place(function, statements.front())))
        return signalPassFailure();
    for (MicrobatchesOp statement : statements)
      statement.erase();
  }

  static LogicalResult place(func::FuncOp step, MicrobatchesOp statement) {
    return statement.getMean() ? MeanPlacer(step, statement).run() : Placer(step, statement).run();
  }
};

} // namespace
