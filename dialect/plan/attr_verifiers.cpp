//===- attr_verifiers.cpp - verifiers of attributes of plan ---------------===//
//
// Rules have labels (A) that reappear in test/dialect/plan/verifiers.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/plan.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

LogicalResult AxisRefAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t pre,
                                  int64_t size) {
  if (name.empty()) // A1
    return emitError() << "axis without a name";
  bool whole = pre == 0 && size == 0;
  if (!whole && (pre < 1 || size < 2)) // A2
    return emitError() << "sub-axis \"" << name << "\":(" << pre << ")" << size
                       << " needs a positive product before it and a size of at least 2";
  return success();
}

LogicalResult DimShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<AxisRefAttr> axes,
                                      bool open, int64_t unit, ArrayRef<DimPart> parts, int64_t repeat) {
  if (unit < 1) // A3
    return emitError() << "block size is " << unit << ", must be positive";
  if (repeat < 1) // A10
    return emitError() << "blocks repeat " << repeat << " times, must be positive";
  // Otherwise one layout would have several attributes.
  if (axes.empty() && (unit != 1 || repeat != 1 || !parts.empty())) // A19
    return emitError() << "a dim that no axis divides has block size " << unit << ", repeat count " << repeat << " and "
                       << parts.size() << " parts, must have 1, 1 and none";
  return verifyParts(parts, unit, repeat, emitError); // A4
}

/// A5: an axis, or a digit of one, appears only once in a sharding.
static LogicalResult verifyAxesOnce(function_ref<InFlightDiagnostic()> emitError, ArrayRef<AxisRefAttr> axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      // Otherwise one coordinate would choose the shard of two dims, of which only the diagonal would exist.
      if (axes[i].overlaps(axes[j]))
        return emitError() << "axis \"" << axes[i].getName() << "\" is used twice in one sharding";
  return success();
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<DimShardingAttr> dims,
                                   Reduction reduction, ArrayRef<AxisRefAttr> partialAxes,
                                   ArrayRef<AxisRefAttr> replicatedAxes, ArrayRef<AxisRefAttr> flatAxes,
                                   base::RoutedAttr) {
  SmallVector<AxisRefAttr> all;
  for (DimShardingAttr dim : dims)
    llvm::append_range(all, dim.getAxes());
  llvm::append_range(all, partialAxes);
  llvm::append_range(all, replicatedAxes);
  llvm::append_range(all, flatAxes);
  if (failed(verifyAxesOnce(emitError, all)))
    return failure();
  if (partialAxes.empty() != (reduction == Reduction::none)) // A6
    return emitError() << "a partial sharding must name both a reduction and axes";
  return success();
}

LogicalResult ShardingAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  if (static_cast<int64_t>(shape.size()) != getRank()) // A7
    return emitError() << "sharding of rank " << getRank() << " on a tensor of rank " << shape.size();
  for (auto [index, dim] : llvm::enumerate(getDims())) {
    int64_t extent = shape[index];
    if (!ShapedType::isDynamic(extent) && extent % dim.getUnit() != 0) // A8
      return emitError() << "dim " << index << " of size " << extent << " is not a multiple of its block size "
                         << dim.getUnit();
    int64_t sum = 0;
    for (const DimPart &part : dim.getParts())
      sum += part.extent;
    if (!dim.getParts().empty() && sum != extent) // A9
      return emitError() << "parts of dim " << index << " sum to " << sum << ", the dim has size " << extent;
  }
  return base::verifyRouted(emitError, getRouted(), shape, isFlat()); // B15, B16, B17
}

LogicalResult OptimizerGroupAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr lr,
                                         FloatAttr weightDecay, FloatAttr beta1, FloatAttr beta2, FloatAttr eps,
                                         FloatAttr momentum, FloatAttr dampening, bool nesterov) {
  for (FloatAttr number : {lr, weightDecay, beta1, beta2, eps, momentum, dampening}) {
    if (number && !number.getType().isF64()) // A12
      return emitError() << "number " << number << " of a group is not f64";
    if (number && !number.getValue().isFinite()) // A20
      return emitError() << "a number of a group is " << base::numberOf(number) << ", must be finite";
  }
  // As the language requires it. PyTorch accepts any dampening.
  std::pair<StringRef, double> numbers[] = {
      {"lr", base::numberOf(lr)},       {"weight_decay", base::numberOf(weightDecay)},
      {"beta1", base::numberOf(beta1)}, {"beta2", base::numberOf(beta2)},
      {"eps", base::numberOf(eps)},     {"momentum", base::numberOf(momentum)}};
  for (auto [name, number] : numbers) {
    bool isBeta = name.starts_with("beta");
    if (number < 0 || (isBeta && number >= 1)) // A20
      return emitError() << name << " is " << number << ", must be 0 or more" << (isBeta ? " and below 1" : "");
  }
  if (nesterov && (base::numberOf(momentum) <= 0 || base::numberOf(dampening) != 0)) // A20
    return emitError() << "nesterov with momentum " << base::numberOf(momentum) << " and dampening "
                       << base::numberOf(dampening) << ", must have a momentum above 0 and no dampening";
  return success();
}

LogicalResult LossScaleAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr initial, FloatAttr growth,
                                    FloatAttr backoff, int64_t interval) {
  if (!initial.getValue().isFinite() || base::numberOf(initial) <= 0) // A13
    return emitError() << "loss scale begins as " << base::numberOf(initial) << ", must be finite and positive";
  return base::verifyLossScale(emitError, growth, backoff, interval); // A11
}

LogicalResult ArgumentRefAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArgumentKind kind,
                                      StringAttr name) {
  if (name.empty()) // A14
    return emitError() << "reference to the argument of kind '" << stringifyArgumentKind(kind) << "' without a name";
  return success();
}

LogicalResult ModuleRunAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef path, int64_t run) {
  // The whole model runs once, so the empty path has no other run.
  if (path.empty()) // A18
    return emitError() << "run of a module without a path";
  if (run < 1) // A18
    return emitError() << "run " << run << " of module \"" << path << "\", must be at least 1: run 0 is not written";
  return success();
}

LogicalResult InitRuleOfAttr::verify(function_ref<InFlightDiagnostic()> emitError, InitRule, FloatAttr gain, FanKind,
                                     StringAttr, LocationAttr) {
  if (!gain.getValue().isFinite() || base::numberOf(gain) <= 0) // A15
    return emitError() << "gain is " << base::numberOf(gain) << ", must be finite and positive";
  return success();
}

LogicalResult StorageAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t position,
                                  bool) {
  if (name.empty()) // A16
    return emitError() << "storage without a name";
  if (position < 0) // A16
    return emitError() << "position " << position << " in storage \"" << name << "\", must be 0 or more";
  return success();
}

LogicalResult CauseAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef axis, StringAttr,
                                LocationAttr) {
  if (axis.empty()) // A17
    return emitError() << "cause of an axis without a name";
  return success();
}

LogicalResult MergeableAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t set, int64_t most) {
  if (set < 0 || most < 0) // A21
    return emitError() << "set " << set << " of at most " << most << " bytes, both must be 0 or more";
  return success();
}

LogicalResult PrefetchAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t unit, int64_t ahead) {
  if (unit < 0 || ahead < 0) // A22
    return emitError() << "unit " << unit << " is gathered " << ahead << " units ahead, both must be 0 or more";
  return success();
}
