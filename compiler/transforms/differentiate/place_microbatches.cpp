//===- place_microbatches.cpp - time becomes an axis ----------------------===//
//
// See PlaceMicrobatches in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEMICROBATCHES
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Divides the batch of one step over time.
class Placer {
public:
  Placer(func::FuncOp step, MicrobatchesOp statement)
      : step(step), statement(statement), builder(OpBuilder::atBlockBegin(&step.getBody().front())) {}

  LogicalResult run() {
    MeshOp mesh = getMesh(step);
    SmallVector<Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
    axes.push_back(MeshAxisAttr::get(builder.getContext(), timeAxisName, statement.getCount()));
    mesh.setAxesAttr(builder.getArrayAttr(axes));
    for (BlockArgument argument : step.getArguments())
      if (argumentKind(argument) == "input" && failed(divide(argument, mesh)))
        return failure();
    return success();
  }

private:
  LogicalResult divide(BlockArgument input, MeshOp mesh) {
    auto names = step.getArgAttrOfType<ArrayAttr>(input.getArgNumber(), "plan.dims");
    auto isBatch = [](Attribute name) { return cast<StringAttr>(name).getValue() == "batch"; };
    size_t dim = names ? std::distance(names.begin(), llvm::find_if(names, isBatch)) : 0;
    if (!names || dim == names.size())
      return success();
    if (failed(checkEven(input, dim, mesh)))
      return failure();
    auto time = AxisRefAttr::get(builder.getContext(), timeAxisName);
    int64_t rank = names.size();
    ShardingAttr layout = ShardingAttr::getReplicated(builder.getContext(), rank).withDim(dim, time);
    std::string text = "microbatches " + std::to_string(statement.getCount());
    auto piece = ConstrainOp::create(builder, statement.getLoc(), withSharding(input.getType(), {}), input, layout,
                                     builder.getArrayAttr({time}), builder.getStringAttr(text));
    input.replaceAllUsesExcept(piece.getResult(), piece);
    return success();
  }

  /// Microbatches of one size, so that one program runs them all.
  LogicalResult checkEven(BlockArgument input, size_t dim, MeshOp mesh) {
    auto type = cast<RankedTensorType>(input.getType());
    int64_t samples = type.getDimSize(dim), shards = shardCount(getSharding(type).getDims()[dim].getAxes(), mesh);
    int64_t needed = shards * statement.getCount();
    if (samples % needed == 0)
      return success();
    auto diagnostic = statement.emitError()
                      << "the batch has " << samples << " samples, and " << statement.getCount() << " microbatches on "
                      << shards << " groups of ranks need a multiple of " << needed;
    diagnostic.attachNote(input.getLoc()) << "the batch is here";
    diagnostic.attachNote(statement.getLoc()) << "help: choose a number that divides the samples of a rank";
    return diagnostic;
  }

  func::FuncOp step;
  MicrobatchesOp statement;
  OpBuilder builder;
};

struct PlaceMicrobatchesPass : meshplan::impl::PlaceMicrobatchesBase<PlaceMicrobatchesPass> {
  void runOnOperation() final {
    SmallVector<MicrobatchesOp> statements(getOperation().getOps<MicrobatchesOp>());
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!statements.empty() && step && failed(Placer(step, statements.front()).run()))
      return signalPassFailure();
    for (MicrobatchesOp statement : statements)
      statement.erase();
  }
};

} // namespace
