//===- dim_units.cpp - what may not be cut apart --------------------------===//

#include "compiler/sharding/dim_units.h"
#include "compiler/sharding/op_record.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

using Units = llvm::DenseMap<Value, SmallVector<int64_t, 4>>;

/// One call with its rule.
struct RuledCall {
  CallOp call;
  FactorRule rule;
};

/// Finds the units by going over the calls until nothing is new.
class UnitSearch {
public:
  UnitSearch(func::FuncOp function, Units &units);
  void run();

private:
  bool visit(const RuledCall &ruled);
  void collect(ValueRange values, ArrayRef<TensorFactors> tensors, const FactorRule &rule,
               SmallVectorImpl<int64_t> &factors);
  bool spread(ValueRange values, ArrayRef<TensorFactors> tensors, const FactorRule &rule, ArrayRef<int64_t> factors);
  SmallVector<int64_t, 4> &unitsOf(Value value);

  Units &units;
  std::vector<RuledCall> calls;
};

} // namespace

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

UnitSearch::UnitSearch(func::FuncOp function, Units &units) : units(units) {
  function.walk([&](CallOp call) {
    CallView view = CallView::of(call);
    if (const OpRecord *record = OpRegistry::get().lookup(view.target))
      calls.push_back({call, factorRuleOf(view, record)});
  });
}

SmallVector<int64_t, 4> &UnitSearch::unitsOf(Value value) {
  auto [entry, isNew] = units.try_emplace(value);
  if (isNew)
    entry->second.assign(cast<RankedTensorType>(value.getType()).getRank(), 1);
  return entry->second;
}

/// Joins into each factor what the dims in which it comes first say of it.
void UnitSearch::collect(ValueRange values, ArrayRef<TensorFactors> tensors, const FactorRule &rule,
                         SmallVectorImpl<int64_t> &factors) {
  for (auto [value, tensor] : llvm::zip(values, tensors)) {
    SmallVector<int64_t, 4> &own = unitsOf(value);
    for (auto [dim, list] : llvm::enumerate(tensor.dims)) {
      auto [place, below] = findMajor(list, rule);
      if (place == list.size() || own[dim] == 1)
        continue;
      int64_t size = rule.factors[list[place]].size;
      int64_t unit = join(own[dim], below, size * below) / below;
      factors[list[place]] = join(factors[list[place]], unit, size);
    }
  }
}

/// Tells the dims what their first factors have come to. True if that is new to one of them.
bool UnitSearch::spread(ValueRange values, ArrayRef<TensorFactors> tensors, const FactorRule &rule,
                        ArrayRef<int64_t> factors) {
  bool changed = false;
  for (auto [value, tensor] : llvm::zip(values, tensors)) {
    SmallVector<int64_t, 4> &own = unitsOf(value);
    for (auto [dim, list] : llvm::enumerate(tensor.dims)) {
      auto [place, below] = findMajor(list, rule);
      if (place == list.size())
        continue;
      int64_t extent = rule.factors[list[place]].size * below;
      int64_t unit = join(own[dim], factors[list[place]] * below, extent);
      changed |= unit != own[dim];
      own[dim] = unit;
    }
  }
  return changed;
}

bool UnitSearch::visit(const RuledCall &ruled) {
  CallOp call = ruled.call;
  const FactorRule &rule = ruled.rule;
  SmallVector<int64_t> factors = llvm::map_to_vector(rule.factors, [](const Factor &factor) { return factor.unit; });
  collect(call.getOperands(), rule.operands, rule, factors);
  collect(call.getResults(), rule.results, rule, factors);
  bool changed = spread(call.getOperands(), rule.operands, rule, factors);
  return spread(call.getResults(), rule.results, rule, factors) || changed;
}

/// Units only grow, by factors of their extents, so that this ends. Against the order of the program what attention
/// says reaches the weights in one go.
void UnitSearch::run() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const RuledCall &ruled : llvm::reverse(calls))
      changed |= visit(ruled);
    for (const RuledCall &ruled : calls)
      changed |= visit(ruled);
  }
}

DimUnits::DimUnits(func::FuncOp function) { UnitSearch(function, units).run(); }

int64_t DimUnits::get(Value value, int64_t dim) const {
  auto found = units.find(value);
  return found == units.end() ? 1 : found->second[dim];
}

DimShardingAttr DimUnits::divide(Value value, int64_t dim, ArrayRef<AxisRefAttr> axes, MeshOp mesh) const {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim), unit = get(value, dim);
  return divideDim(extent, axes, mesh, extent / unit >= shardCount(axes, mesh) ? unit : 1);
}
