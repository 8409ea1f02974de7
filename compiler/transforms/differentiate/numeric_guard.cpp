//===- numeric_guard.cpp - steps with non-finite gradients ----------------===//

#include "compiler/transforms/differentiate/numeric_guard.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "runtime/schema/program_names.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

NumericGuard::NumericGuard(func::FuncOp step, OptimizerOp optimizer, PrecisionOp precision, OpBuilder &builder)
    : step(step), optimizer(optimizer), precision(precision), builder(builder), counts(builder, optimizer.getLoc()) {}

void NumericGuard::scaleLoss() {
  LossScaleAttr scale = precision ? precision.getLossScaleAttr() : LossScaleAttr();
  if (!scale)
    return;
  double initial = scale.getInitial().getValueAsDouble();
  scaleSetting = settingArgument(step, program_names::lossScale, initial, /*isPlaced=*/true, precision.getLoc());
  // Every gradient is linear in the gradient of the loss, so one multiplication scales all of them.
  CallOp seed;
  step.walk([&](CallOp call) {
    if (call->hasAttr(attr::LossGradient::getNameStr()))
      seed = call;
  });
  OpBuilder later(seed->getContext());
  later.setInsertionPointAfter(seed);
  auto type = cast<RankedTensorType>(seed.getResult(0).getType());
  // The setting is a float32 number. The seed has the type of the loss, and so must the product.
  Value narrow = StepCall("aten._to_copy.default", later, precision.getLoc())
                     .tensor("self", scaleSetting)
                     .type("dtype", type.getElementType())
                     .make(RankedTensorType::get({}, type.getElementType()));
  Value scaled = StepCall("aten.mul.Tensor", later, precision.getLoc())
                     .tensor("self", seed.getResult(0))
                     .tensor("other", narrow)
                     .make(type);
  seed.getResult(0).replaceAllUsesExcept(scaled, scaled.getDefiningOp());
}

Value NumericGuard::noted(Value addend, BlockArgument parameter) {
  if (!skips())
    return addend;
  auto names = argAttr<attr::Names>(step, parameter.getArgNumber());
  return StepCall("meshplan.note_nonfinite", builder, optimizer.getLoc())
      .tensor("self", addend)
      .text("name", cast<StringAttr>(names[0]).getValue())
      .make(withSharding(addend.getType(), {}));
}

void NumericGuard::count(Value gradient, ArrayRef<AxisRefAttr> axes) {
  if (skips())
    // Each rank counts in its shard. The counts are summed over the axes of the shard only: replicas count the same
    // elements.
    counts.add(axes, StepCall("meshplan.nonfinite_count", builder, optimizer.getLoc())
                         .tensor("self", gradient)
                         .make(RankedTensorType::get({}, builder.getI64Type())));
}

/// What the run does after the step (see sched.program).
base::GuardAttr NumericGuard::action() {
  bool stops = optimizer.getNonfinite() == NonfiniteAction::stop;
  LossScaleAttr scale = precision ? precision.getLossScaleAttr() : LossScaleAttr();
  if (!scale)
    return base::GuardAttr::get(step.getContext(), stops, {}, {}, 0);
  return base::GuardAttr::get(step.getContext(), stops, scale.getGrowth(), scale.getBackoff(), scale.getInterval());
}

Value NumericGuard::total() {
  if (!skips())
    return {};
  Value total = counts.total();
  Operation *output = step.getBody().front().getTerminator();
  unsigned index = output->getNumOperands();
  output->insertOperands(index, total);
  [[maybe_unused]] LogicalResult inserted =
      step.insertResult(index, total.getType(),
                        builder.getDictionaryAttr(named<attr::Name>(builder.getStringAttr(base::nonfiniteOutput))));
  setOpAttr<attr::Guard>(step, action());
  return total;
}
