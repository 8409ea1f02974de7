//===- localize_calls.cpp - rewrites calls to their form on a rank --------===//
//
// See LocalizeCalls in passes.td. Each call is checked against its factor rule
// first, independently of propagation: a wrong sharding would silently compute
// wrong numbers. Then OpRecord::localize replaces integers that depend on the
// rank, or the operator.
//
// Examples on a mesh tp = 2:
//
//   view of [2, 6, 8] as [2, 6, 4, 2], with dim 2 over tp:
//     size = [2, 6, -1, 2]
//     shape = [2, 6, #base.local<0, result 0, dim 2, extent 1>, 2]
//   On a rank the local is 0 + 1 * extent of dim 2 of the result = 2.
//
//   embedding of a table [32, 8] with dim 0 over tp:
//     aten.embedding becomes meshplan.embedding with
//     offset = #base.local<0, operand 0, dim 0, offset 1>
//   Rank 1 holds rows 16 to 31 and gets offset 16. It returns zeros for indices
//   of other rows, so that the result is partial over tp.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/sharding/partial_operands.h"
#include "compiler/sharding/projection.h"
#include "compiler/sharding/storage/flat_calls.h"
#include "compiler/transforms/partition/passes.h"
#include "compiler/transforms/partition/row_arguments.h"

namespace meshplan {
#define GEN_PASS_DEF_LOCALIZECALLS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Checks the types of one call against its rule, independently of how they were decided.
class CallChecker {
public:
  CallChecker(CallOp call, const FactorRule &rule, const Linearity &linearity, MeshOp mesh)
      : call(call), rule(rule), linearity(linearity), mesh(mesh), divisions(rule.factors.size()),
        known(rule.factors.size(), false) {}

  LogicalResult check() {
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      if (failed(readTensor(getSharding(operand), rule.operands[index], "operand", index)))
        return failure();
    for (auto [index, result] : llvm::enumerate(call.getResults()))
      if (failed(readTensor(getSharding(result), rule.results[index], "result", index)))
        return failure();
    return success(succeeded(checkAddends()) && succeeded(checkPartial()));
  }

private:
  LogicalResult readTensor(ShardingAttr sharding, const TensorFactors &tensor, StringRef side, size_t index) {
    if (!sharding || !sharding.isClosed())
      return call.emitOpError() << side << " " << index << " has no decided sharding";
    Projection projection = projectToFactors(sharding, tensor, rule, mesh);
    // Here a misfit is a defect of an earlier phase, not of the plan: propagation has refused or gathered such axes.
    if (projection.misfit)
      return call.emitOpError() << side << " " << index << " has a sharding that no division of its factors gives";
    for (ArrayRef<unsigned> dim : tensor.dims)
      for (unsigned factor : dim)
        if (failed(readFactor(factor, projection.factors[factor], side, index)))
          return failure();
    return success();
  }

  LogicalResult readFactor(unsigned factor, const FactorDivision &found, StringRef side, size_t index) {
    if (rule.factors[factor].kind == FactorKind::whole && !found.axes.empty())
      return call.emitOpError() << side << " " << index << " splits a factor that must be replicated";
    // A single block that all ranks hold may appear undivided in another tensor.
    if (known[factor] && found.axes.empty() && isSingleSharedBlock(divisions[factor], rule.factors[factor], mesh))
      return success();
    // Otherwise ranks would combine elements of different indices: the result would have the right shape and wrong
    // numbers.
    if (known[factor] && divisions[factor] != found)
      return call.emitOpError() << side << " " << index << " splits factor " << factor
                                << " differently from another tensor of the call";
    divisions[factor] = found;
    known[factor] = true;
    return success();
  }

  /// Partial operands are accepted only where the operator is linear in them.
  LogicalResult checkAddends() {
    SmallVector<ShardingAttr> shardings =
        llvm::map_to_vector(call.getOperands(), [](Value operand) { return getSharding(operand); });
    for (ShardingAttr sharding : shardings)
      for (AxisRefAttr axis : sharding.getPartialAxes())
        if (!findRejectedPartials(linearity, shardings, axis).empty())
          return call.emitOpError() << "has an operand that is partial over \"" << axis.getName()
                                    << "\" and in which it is not linear";
    return success();
  }

  /// The axes over which the results must be partial, and their reduction: the axes of contracted factors, with the
  /// reduction of the contraction, and the axes of partial operands, with that of the operands.
  std::pair<AxisList, Reduction> expectedPartial() {
    AxisList axes;
    Reduction reduction = Reduction::none;
    for (auto [factor, found] : llvm::zip(rule.factors, divisions)) {
      if (found.axes.empty() || (factor.kind != FactorKind::sum && factor.kind != FactorKind::max))
        continue;
      reduction = factor.kind == FactorKind::sum ? Reduction::sum : Reduction::max;
      axes.append(found.axes.begin(), found.axes.end());
    }
    for (Value operand : call.getOperands())
      for (AxisRefAttr axis : getSharding(operand).getPartialAxes()) {
        if (reduction == Reduction::none)
          reduction = getSharding(operand).getReduction();
        if (!overlapsAny(axes, axis))
          axes.push_back(axis);
      }
    return {axes, reduction};
  }

  /// The results are partial over exactly these axes.
  LogicalResult checkPartial() {
    auto [expected, reduction] = expectedPartial();
    for (Value result : call.getResults()) {
      ArrayRef<AxisRefAttr> made = getSharding(result).getPartialAxes();
      bool same = made.size() == expected.size() && llvm::all_of(made, [&expected = expected](AxisRefAttr axis) {
                    return llvm::is_contained(expected, axis);
                  });
      if (!same)
        return call.emitOpError("the partial axes of the result do not follow from its operands and contractions");
      if (getSharding(result).getReduction() != reduction)
        return call.emitOpError() << "result is partial with reduction "
                                  << stringifyReduction(getSharding(result).getReduction())
                                  << ", but its operands and contractions give " << stringifyReduction(reduction);
    }
    return success();
  }

  CallOp call;
  const FactorRule &rule;
  const Linearity &linearity;
  MeshOp mesh;
  FactorDivisions divisions;
  SmallVector<bool> known;
};

struct LocalizeCallsPass : meshplan::impl::LocalizeCallsBase<LocalizeCallsPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    // Not a walk over the module: the reference in a module of its own has no shardings.
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto call : function.getOps<CallOp>())
        if (failed(localize(call, mesh)))
          return signalPassFailure();
  }

  /// A call that runs flat has no integers that depend on the rank.
  static LogicalResult checkFlat(CallOp call, MeshOp mesh) {
    SmallVector<ShardingAttr> made =
        llvm::map_to_vector(call.getResults(), [](Value result) { return getSharding(result); });
    if (runsFlat(call) && made == flatResults(call, mesh))
      return success();
    return call.emitOpError("has a flat operand or result, but needs its dims");
  }

  static LogicalResult localize(CallOp call, MeshOp mesh) {
    auto isFlat = [](Value result) { return getSharding(result) && getSharding(result).isFlat(); };
    if (hasFlatOperand(call) || llvm::any_of(call.getResults(), isFlat))
      return checkFlat(call, mesh);
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    FactorRule rule = factorRuleOf(view, record);
    Linearity linearity = linearityOf(call);
    // Before localize, which may change the target: the rule is that of the global call.
    if (failed(CallChecker(call, rule, linearity, mesh).check()))
      return failure();
    if (record && record->localize) {
      LocalCall local = record->localize(view, mesh);
      call.setTarget(local.target);
      call.setArgsAttr(local.args);
    }
    return localizeRows(call, rule);
  }
};

} // namespace
