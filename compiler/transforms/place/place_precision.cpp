//===- place_precision.cpp - types in which parameters are stored ---------===//
//
// See PlacePrecision in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEPRECISION
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Converts the parameters of one function where they are read.
class PrecisionPlacer {
public:
  PrecisionPlacer(func::FuncOp function, PrecisionOp statement)
      : statement(statement), builder(function.getContext()) {}

  void place(BlockArgument parameter) {
    auto type = cast<RankedTensorType>(parameter.getType());
    Type compute = type.getElementType(), storage = statement.getStorage().value_or(compute);
    if (!isa<FloatType>(compute))
      return;
    Type gathered = gatheredType(parameter, storage, compute);
    if (storage == compute && gathered == compute)
      return;
    parameter.setType(type.clone(storage));
    // Its storage type counts nevertheless: the checkpoint contains it.
    if (parameter.use_empty())
      return;
    setBeforeFirstReader(parameter);
    Value value = converted(parameter, gathered);
    // The order convert, gather, convert moves the narrow type. Propagation would gather as late as possible, after the
    // conversion to the wider type.
    if (gathered != compute && getSharding(parameter).isFlat())
      value = gather(value, getSharding(parameter));
    Value whole = converted(value, compute);
    parameter.replaceUsesWithIf(whole, [&](OpOperand &use) { return !made.contains(use.getOwner()); });
    // Autocast has inserted conversions of the wide value to the type in which it is stored. Through both, an element
    // comes back unchanged.
    skipRoundTrips(whole, gathered == compute ? parameter : value);
  }

private:
  /// Inserts conversions and gathers before the first reader, so that their results are not live from the start of the
  /// program.
  void setBeforeFirstReader(BlockArgument parameter) {
    Operation *first = *parameter.user_begin();
    for (Operation *user : parameter.getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    builder.setInsertionPoint(first);
  }

  /// The type in which the parameter is gathered; the compute type if the plan does not shard it. A single rank, which
  /// holds the whole parameter, rounds in the same way.
  Type gatheredType(BlockArgument parameter, Type storage, Type compute) {
    bool isShared = dataOf(parameter) ? isStoredDivided(parameter) : getSharding(parameter).isFlat();
    bool isNarrower = storage.getIntOrFloatBitWidth() < compute.getIntOrFloatBitWidth();
    return isShared ? statement.getGather().value_or(isNarrower ? storage : compute) : compute;
  }

  /// Readers that autocast rounds to the storage type read the stored elements directly.
  void skipRoundTrips(Value wide, Value narrow) {
    Type element = getElementTypeOrSelf(narrow.getType());
    if (element.getIntOrFloatBitWidth() >= getElementTypeOrSelf(wide.getType()).getIntOrFloatBitWidth())
      return;
    for (Operation *user : llvm::make_early_inc_range(wide.getUsers()))
      if (auto call = dyn_cast<CallOp>(user);
          call && call.getTarget() == "aten.to.dtype" && getElementTypeOrSelf(call.getResult(0).getType()) == element) {
        call.getResult(0).replaceAllUsesWith(narrow);
        call.erase();
      }
    if (wide.use_empty())
      wide.getDefiningOp()->erase();
  }

  Value converted(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    NamedAttrList args;
    args.set("self", OperandRefAttr::get(builder.getContext(), 0));
    args.set("dtype", TypeAttr::get(element));
    auto call = CallOp::create(builder, statement.getLoc(), withSharding(type.clone(element), {}),
                               builder.getStringAttr("aten._to_copy.default"), value,
                               args.getDictionary(builder.getContext()), StringAttr());
    setOpAttr<attr::Precision>(call, builder.getUnitAttr());
    return remember(call);
  }

  /// Gathers the flat axes, so that later readers read the gathered tensor.
  Value gather(Value value, ShardingAttr stored) {
    ArrayRef<AxisRefAttr> axes = stored.getFlatAxes();
    ShardingAttr whole = ShardingAttr::getReplicated(builder.getContext(), stored.getRank());
    return remember(ConstrainOp::create(builder, statement.getLoc(), withSharding(value.getType(), {}), value, whole,
                                        builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())),
                                        builder.getStringAttr("precision")));
  }

  Value remember(Operation *op) {
    made.insert(op);
    return op->getResult(0);
  }

  PrecisionOp statement;
  OpBuilder builder;
  DenseSet<Operation *> made;
};

struct PlacePrecisionPass : meshplan::impl::PlacePrecisionBase<PlacePrecisionPass> {
  void runOnOperation() final {
    SmallVector<PrecisionOp> statements(getOperation().getOps<PrecisionOp>());
    if (statements.empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      PrecisionPlacer placer(function, statements.front());
      for (BlockArgument argument : function.getArguments())
        if (argumentKind(argument) == ArgumentKind::parameter)
          placer.place(argument);
      function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                                         function.getBody().front().getTerminator()->getOperandTypes()));
    }
  }
};

} // namespace
