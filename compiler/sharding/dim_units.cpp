//===- dim_units.cpp - what may not be cut apart --------------------------===//

#include "compiler/sharding/dim_units.h"
#include "compiler/sharding/op_record.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

using Units = llvm::DenseMap<Value, SmallVector<DimUnit, 4>>;

/// One call with its rule.
struct RuledCall {
  CallOp call;
  FactorRule rule;
};

/// Finds the units by going over the calls until nothing is new.
class UnitSearch {
public:
  /// With `shares` a unit that others share does not keep these together.
  UnitSearch(ArrayRef<RuledCall> calls, Units &units, bool shares) : calls(calls), units(units), shares(shares) {}
  void run();

private:
  bool visit(const RuledCall &ruled);
  void collect(Value value, const TensorFactors &tensor, const FactorRule &rule, SmallVectorImpl<DimUnit> &factors);
  bool spread(Value value, const TensorFactors &tensor, const FactorRule &rule, ArrayRef<DimUnit> factors);
  DimUnit ofFactors(const TensorFactors &tensor, unsigned dim, int64_t extent, const FactorRule &rule,
                    ArrayRef<DimUnit> factors) const;
  SmallVector<DimUnit, 4> &unitsOf(Value value);

  ArrayRef<RuledCall> calls;
  Units &units;
  bool shares;
};

} // namespace

/// Repeat of units for which shards cannot hold what they share: the queries of one attention that are the keys of
/// another, or that its keys are made of, would be dealt twice.
static constexpr int64_t cannotShare = std::numeric_limits<int64_t>::max();

static bool isShared(const FactorRule &rule, unsigned factor) {
  return llvm::any_of(rule.operands, [&](const TensorFactors &tensor) {
    return llvm::any_of(tensor.shared, [&](auto shared) { return tensor.dims[shared.first].front() == factor; });
  });
}

/// The place of the most major factor of a dim that has more than one index, and how many elements lie below it.
static std::pair<size_t, int64_t> findMajor(ArrayRef<unsigned> factors, const FactorRule &rule) {
  size_t place = 0;
  while (place < factors.size() && rule.factors[factors[place]].size == 1)
    ++place;
  int64_t below = 1;
  for (size_t next = place + 1; next < factors.size(); ++next)
    below *= rule.factors[factors[next]].size;
  return {place, below};
}

/// The smallest unit that is a multiple of both; all of the extent if there is none within it. A dim without elements
/// has units of 1.
static int64_t join(int64_t left, int64_t right, int64_t extent) {
  if (extent == 0)
    return 1;
  // Units divide their extents, so that the product fits as soon as the extent does.
  int64_t common = left / std::gcd(left, right);
  if (common > extent / right || extent % (common * right) != 0)
    return extent;
  return common * right;
}

static std::vector<RuledCall> ruledCalls(func::FuncOp function) {
  std::vector<RuledCall> calls;
  function.walk([&](CallOp call) {
    CallView view = CallView::of(call);
    if (const OpRecord *record = OpRegistry::get().lookup(view.target))
      calls.push_back({call, factorRuleOf(view, record)});
  });
  return calls;
}

/// The value that a call made: what constrains or reshards it has the same dims.
static Value madeBy(Value value) {
  while (true) {
    if (auto constrain = value.getDefiningOp<ConstrainOp>())
      value = constrain.getInput();
    else if (auto reshard = value.getDefiningOp<ReshardOp>())
      value = reshard.getInput();
    else
      return value;
  }
}

SmallVector<DimUnit, 4> &UnitSearch::unitsOf(Value value) {
  value = madeBy(value);
  auto [entry, isNew] = units.try_emplace(value);
  if (isNew)
    entry->second.assign(cast<RankedTensorType>(value.getType()).getRank(), DimUnit());
  return entry->second;
}

/// Joins into each factor what the dims in which it comes first say of it.
void UnitSearch::collect(Value value, const TensorFactors &tensor, const FactorRule &rule,
                         SmallVectorImpl<DimUnit> &factors) {
  ArrayRef<DimUnit> own = unitsOf(value);
  auto add = [&](unsigned factor, int64_t unit, int64_t repeat) {
    factors[factor].size = join(factors[factor].size, unit, rule.factors[factor].size);
    factors[factor].repeat = std::max(factors[factor].repeat, repeat);
  };
  for (auto [dim, list] : llvm::enumerate(tensor.dims)) {
    auto [place, below] = findMajor(list, rule);
    int64_t sharers = tensor.sharers(dim);
    if (place == list.size())
      continue;
    if (tensor.isJoined(dim))
      for (unsigned factor : list)
        add(factor, own[dim].size, 1); // who shares one part does not share the others
    else if (sharers > 1 && !shares)
      add(list[place], own[dim].size * sharers, 1);
    else if (sharers > 1)
      add(list[place], 1, 1);
    else
      add(list[place], join(own[dim].size, below, rule.factors[list[place]].size * below) / below, own[dim].repeat);
  }
}

/// What its factors say of a dim.
DimUnit UnitSearch::ofFactors(const TensorFactors &tensor, unsigned dim, int64_t extent, const FactorRule &rule,
                              ArrayRef<DimUnit> factors) const {
  ArrayRef<unsigned> list = tensor.dims[dim];
  auto [place, below] = findMajor(list, rule);
  if (place == list.size())
    return {};
  DimUnit unit = factors[list[place]];
  int64_t sharers = tensor.sharers(dim);
  if (tensor.isJoined(dim)) {
    for (unsigned factor : list)
      unit.size = join(unit.size, factors[factor].size, extent);
    return {unit.size, 1};
  }
  if (sharers == 1)
    return {unit.size * below, unit.repeat};
  if (unit.size % sharers == 0)
    return {unit.size / sharers, unit.repeat};
  return {1, unit.repeat == 1 && sharers % unit.size == 0 ? sharers / unit.size : unit.repeat};
}

/// Tells the dims what their factors have come to. True if that is new to one of them.
bool UnitSearch::spread(Value value, const TensorFactors &tensor, const FactorRule &rule, ArrayRef<DimUnit> factors) {
  bool changed = false;
  SmallVector<DimUnit, 4> &own = unitsOf(value);
  for (unsigned dim = 0; dim < tensor.dims.size(); ++dim) {
    int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    DimUnit unit = ofFactors(tensor, dim, extent, rule, factors);
    DimUnit joined{join(own[dim].size, unit.size, extent), std::max(own[dim].repeat, unit.repeat)};
    changed |= joined != own[dim];
    own[dim] = joined;
  }
  return changed;
}

bool UnitSearch::visit(const RuledCall &ruled) {
  CallOp call = ruled.call;
  const FactorRule &rule = ruled.rule;
  SmallVector<DimUnit> factors =
      llvm::map_to_vector(rule.factors, [](const Factor &factor) { return DimUnit{factor.unit, 1}; });
  for (auto [value, tensor] : llvm::zip(call.getOperands(), rule.operands))
    collect(value, tensor, rule, factors);
  for (auto [value, tensor] : llvm::zip(call.getResults(), rule.results))
    collect(value, tensor, rule, factors);
  for (auto [factor, unit] : llvm::enumerate(factors))
    if (unit.repeat > 1 && isShared(rule, factor))
      unit.repeat = cannotShare;
  bool changed = false;
  for (auto [value, tensor] : llvm::zip(call.getOperands(), rule.operands))
    changed |= spread(value, tensor, rule, factors);
  for (auto [value, tensor] : llvm::zip(call.getResults(), rule.results))
    changed |= spread(value, tensor, rule, factors);
  return changed;
}

/// Units only grow, by factors of their extents, and no repeat grows by itself, so that this ends. Against the order of
/// the program what attention says reaches the weights in one go.
void UnitSearch::run() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const RuledCall &ruled : llvm::reverse(calls))
      changed |= visit(ruled);
    for (const RuledCall &ruled : calls)
      changed |= visit(ruled);
  }
}

DimUnits::DimUnits(func::FuncOp function) {
  std::vector<RuledCall> calls = ruledCalls(function);
  UnitSearch(calls, whole, /*shares=*/false).run();
  UnitSearch(calls, fine, /*shares=*/true).run();
}

DimUnit DimUnits::find(const Table &table, Value value, int64_t dim) const {
  auto found = table.find(madeBy(value));
  return found == table.end() ? DimUnit() : found->second[dim];
}

int64_t DimUnits::get(Value value, int64_t dim) const { return find(whole, value, dim).size; }

DimShardingAttr DimUnits::divide(Value value, int64_t dim, ArrayRef<AxisRefAttr> axes, MeshOp mesh,
                                 ArrayRef<int64_t> parts) const {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim), shards = shardCount(axes, mesh);
  SmallVector<int64_t> sizes(parts);
  if (sizes.empty())
    sizes.push_back(extent);
  auto hasEnough = [&](DimUnit unit) {
    return llvm::all_of(
        sizes, [&](int64_t size) { return size % unit.size == 0 && size / unit.size * unit.repeat >= shards; });
  };
  DimUnit kept = find(whole, value, dim), shared = find(fine, value, dim);
  if (hasEnough({kept.size, 1}))
    return divideDim(extent, axes, mesh, kept.size, parts);
  bool canShare = shared.repeat != cannotShare && (parts.empty() || shared.repeat == 1);
  if (canShare && hasEnough(shared))
    return divideDim(extent, axes, mesh, shared.size, parts, shared.repeat);
  return divideDim(extent, axes, mesh, 1, parts);
}
