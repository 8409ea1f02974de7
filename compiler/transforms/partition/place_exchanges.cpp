//===- place_exchanges.cpp - which rows go to experts and back ------------===//
//
// See PlaceExchanges in passes.td.
//
// The rank of a token is its rows' home. Rows are computed from rows of the same pair of expert and token, so what
// needs no weight of an expert can be computed at home as well as at the expert. Propagation moves the smaller operand
// of a call: the gate of each row goes to the expert, is multiplied there, and the product comes back, in float32 if
// the gate is. Here what the expert computes comes back before:
//
//   %r, %g: rows and gates at the expert           at home
//   %g  = reshard %gates
//   %m  = mul(%r, %g)                              %r'   = reshard %r
//   ... = combine(reshard %m)                      ... = combine(mul(%r', %gates))
//   %d  = reshard %gradient
//   %m2 = mul(%d, %g)                              %m2' = mul(%gradient, %gates)
//   ... = grouped_linear(%m2, ...)                 ... = grouped_linear(reshard %m2', ...)
//   %s  = sum(mul(%d, %r))
//   ... = reshard %s                               ... = sum(mul(%gradient, %r'))
//
// Four exchanges of rows are left of six, and none is wider than what experts compute.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/partition/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEEXCHANGES
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The exchanges of one function.
class ExchangePlacer {
public:
  explicit ExchangePlacer(func::FuncOp function) : function(function) {}

  void run();

private:
  bool isAtHome(Value operand) const { return home.contains(operand); }
  void addHome(CallOp call);
  void returnFrom(ReshardOp reshard);
  Value returnBefore(ReshardOp reshard);
  void sendResults();
  void collectSources(Value value, SetVector<Value> &sources) const;
  bool isReadAtExpert(Value value) const;
  void eraseUnread();

  func::FuncOp function;
  llvm::MapVector<Value, Value> home; ///< of rows at their expert, the same rows at home
  DenseSet<Operation *> copies;       ///< computed at home
};

/// How the rows of a value are stored; null for any other value.
base::RoutedAttr rowsOf(Value value) {
  base::RoutedAttr routed = routedOf(value);
  return routed && routed.getKind() == base::RoutedKind::rows ? routed : base::RoutedAttr();
}

/// Bytes of one row.
int64_t rowBytes(Value value) {
  int64_t elements = 1;
  for (int64_t extent : shapeOf(value).drop_front(rowsOf(value).getDims()))
    elements *= extent;
  return elements * base::elementBytes(elementOf(value));
}

/// True if a call computes each row of its results from the same row of its operands, and from nothing that only the
/// rank of the expert has.
bool isByRow(CallOp call) {
  auto isWhole = [](Value value) {
    ShardingAttr sharding = getSharding(value);
    return sharding && !sharding.getRouted() && !sharding.isPartial() &&
           llvm::all_of(sharding.getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
  };
  if (!llvm::all_of(call.getOperands(), [&](Value value) { return rowsOf(value) || isWhole(value); }) ||
      !llvm::all_of(call.getResults(), [](Value value) { return rowsOf(value) && !getSharding(value).isPartial(); }))
    return false;
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  // What counts rows would count those of its own rank.
  if (llvm::any_of(rule.factors, [](const Factor &factor) { return factor.isCounted; }))
    return false;
  bool hasRows = false;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    base::RoutedAttr routed = rowsOf(operand);
    if (!routed)
      continue;
    hasRows = true;
    auto leading = [&](const TensorFactors &factors) { return ArrayRef(factors.dims).take_front(routed.getDims()); };
    for (const TensorFactors &result : rule.results)
      if (!llvm::equal(leading(rule.operands[index]), leading(result)))
        return false;
  }
  return hasRows;
}

/// The type of rows at home; `like` are rows of the same pairs there.
Type typeAtHome(Value value, Value like) {
  ShardingAttr own = getSharding(value), other = getSharding(like);
  for (int64_t dim = 0; dim < rowsOf(value).getDims(); ++dim)
    own = own.withDim(dim, other.getDims()[dim]);
  return withSharding(value.getType(), own);
}

} // namespace

/// Copies a call so that it computes its rows at home. All rows that it reads must be there.
void ExchangePlacer::addHome(CallOp call) {
  OpBuilder builder(call.getContext());
  builder.setInsertionPointAfter(call);
  IRMapping mapping;
  Value like;
  for (Value operand : call.getOperands())
    if (Value there = home.lookup(operand)) {
      mapping.map(operand, there);
      like = there;
    }
  Operation *copy = builder.clone(*call, mapping);
  copies.insert(copy);
  for (auto [own, made] : llvm::zip(call.getResults(), copy->getResults())) {
    made.setType(typeAtHome(own, like));
    home[own] = made;
  }
}

/// Lets an operand of what comes back come back instead, where it is not wider and what it is computed with is at home.
/// Null if there is no such operand.
Value ExchangePlacer::returnBefore(ReshardOp reshard) {
  SmallVector<CallOp> moved;
  Value value = reshard.getInput();
  for (bool meetsHome = false; !meetsHome;) {
    auto call = value.getDefiningOp<CallOp>();
    if (!call || !value.hasOneUse() || call->getNumResults() != 1 || !isByRow(call))
      return {};
    SetVector<Value> away;
    for (Value operand : call.getOperands())
      if (rowsOf(operand)) {
        meetsHome |= isAtHome(operand);
        if (!isAtHome(operand))
          away.insert(operand);
      }
    if (away.size() != 1)
      return {};
    moved.push_back(call);
    value = away.front();
  }
  if (getSharding(value).isPartial() || rowBytes(value) > rowBytes(reshard.getInput()))
    return {};
  OpBuilder builder(reshard);
  auto earlier = cast<ReshardOp>(builder.clone(*reshard));
  earlier.getInputMutable().assign(value);
  earlier.getResult().setType(cast<RankedTensorType>(typeAtHome(value, reshard.getResult())));
  home[value] = earlier.getResult();
  for (CallOp call : llvm::reverse(moved)) {
    addHome(call);
    // After the exchange, which is not where the call was.
    home[call.getResult(0)].getDefiningOp()->moveBefore(reshard);
  }
  return home[reshard.getInput()];
}

void ExchangePlacer::returnFrom(ReshardOp reshard) {
  Value there = home.lookup(reshard.getInput());
  if (!there)
    there = returnBefore(reshard);
  if (!there || there.getType() != reshard.getResult().getType())
    return;
  reshard.replaceAllUsesWith(there);
  reshard.erase();
}

/// True if rows are read where only the expert can read them.
bool ExchangePlacer::isReadAtExpert(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    bool isMoved =
        user->getNumResults() > 0 && llvm::all_of(user->getResults(), [&](Value made) { return isAtHome(made); });
    return !copies.contains(user) && !isMoved;
  });
}

/// The exchanges that bring what a value is computed from to the expert.
void ExchangePlacer::collectSources(Value value, SetVector<Value> &sources) const {
  Operation *op = value.getDefiningOp();
  if (isa<ReshardOp>(op)) {
    sources.insert(value);
    return;
  }
  // What came back is computed by the expert.
  if (!copies.contains(home.lookup(value).getDefiningOp()))
    return;
  for (Value operand : op->getOperands())
    if (isAtHome(operand))
      collectSources(operand, sources);
}

/// Lets what is computed at home go to the expert, instead of what it is computed from, where it is not wider.
void ExchangePlacer::sendResults() {
  llvm::EquivalenceClasses<void *> together;
  SmallVector<std::pair<Value, SetVector<Value>>> candidates;
  for (auto [away, there] : home) {
    auto call = away.getDefiningOp<CallOp>();
    if (!call || !copies.contains(there.getDefiningOp()) || !isReadAtExpert(away))
      continue;
    SetVector<Value> sources;
    collectSources(away, sources);
    for (Value source : sources)
      together.unionSets(away.getAsOpaquePointer(), source.getAsOpaquePointer());
    candidates.emplace_back(away, std::move(sources));
  }
  DenseMap<void *, int64_t> before, after;
  DenseSet<Value> counted;
  for (auto &[away, sources] : candidates) {
    void *group = together.getLeaderValue(away.getAsOpaquePointer());
    after[group] += rowBytes(away);
    for (Value source : sources)
      // What the expert reads itself goes there anyway.
      if (!isReadAtExpert(source) && counted.insert(source).second)
        before[group] += rowBytes(source);
  }
  for (auto &[away, sources] : candidates) {
    void *group = together.getLeaderValue(away.getAsOpaquePointer());
    if (after[group] > before[group])
      continue;
    OpBuilder builder(away.getContext());
    builder.setInsertionPointAfter(home[away].getDefiningOp());
    auto sent = cast<ReshardOp>(builder.clone(*sources.front().getDefiningOp()));
    sent.getInputMutable().assign(home[away]);
    sent.getResult().setType(typeOf(away));
    away.replaceUsesWithIf(sent.getResult(),
                           [&](OpOperand &use) { return use.getOwner() != home[away].getDefiningOp(); });
  }
}

void ExchangePlacer::eraseUnread() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (bool isOurs = isa<ReshardOp>(op) || copies.contains(&op) ||
                      llvm::any_of(op.getResults(), [&](Value value) { return isAtHome(value); });
        isOurs && op.use_empty())
      op.erase();
}

void ExchangePlacer::run() {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      if (!rowsOf(reshard.getInput()))
        continue;
      if (goesToExperts(reshard))
        home[reshard.getResult()] = reshard.getInput();
      else if (comesFromExperts(reshard))
        returnFrom(reshard);
      continue;
    }
    auto call = dyn_cast<CallOp>(op);
    if (call && !copies.contains(&op) && isByRow(call) &&
        llvm::all_of(call.getOperands(), [&](Value value) { return !rowsOf(value) || isAtHome(value); }))
      addHome(call);
  }
  sendResults();
  eraseUnread();
}

namespace {
struct PlaceExchangesPass : meshplan::impl::PlaceExchangesBase<PlaceExchangesPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      ExchangePlacer(function).run();
  }
};
} // namespace
