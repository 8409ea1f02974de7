//===- dim_units.cpp - blocks of dims that are not cut --------------------===//

#include "compiler/sharding/units/dim_units.h"
#include "compiler/sharding/op_record.h"

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

/// Finds the blocks by visiting all calls until nothing changes.
class UnitSearch {
public:
  /// With `shares`, a shared block does not join its sharers into one block.
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

/// True if the indices of the factor share an index of some dim: the factor counts query heads.
static bool isHeadOfKeys(const FactorRule &rule, unsigned factor) {
  return llvm::any_of(rule.operands, [&](const TensorFactors &tensor) {
    return llvm::any_of(tensor.shared, [&](auto shared) { return tensor.dims[shared.first].front() == factor; });
  });
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

/// The value before constraints and reshards, which do not change its dims.
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

/// Merges the counted parts of one view into those of other views.
static void add(SmallVectorImpl<CountedParts> &known, const CountedParts &said) {
  auto *same = llvm::find_if(
      known, [&](const CountedParts &parts) { return parts.start == said.start && parts.extent == said.extent; });
  if (same == known.end()) {
    known.push_back(said);
  } else if (same->count != said.count) {
    same->count = CountedParts::disputed;
    same->unit = same->repeat = 1;
  } else if (same->count != CountedParts::disputed) {
    same->unit = joinUnits(same->unit, said.unit, said.extent / said.count);
    same->repeat = std::max(same->repeat, said.repeat);
  }
}

/// The counted parts within the `extent` elements from `start` on, moved to begin at `target`.
static SmallVector<CountedParts, 0> countedWithin(ArrayRef<CountedParts> counted, int64_t start, int64_t extent,
                                                  int64_t target) {
  SmallVector<CountedParts, 0> within;
  for (CountedParts parts : counted)
    if (parts.start >= start && parts.start + parts.extent <= start + extent) {
      parts.start += target - start;
      within.push_back(parts);
    }
  return within;
}

/// Merges the facts of one dim about a factor into the factor.
static void add(DimUnit &factor, int64_t extent, const DimUnit &said) {
  for (const CountedParts &parts : said.counted)
    add(factor.counted, parts);
  factor.size = joinUnits(factor.size, said.size, extent);
  factor.repeat = std::max(factor.repeat, said.repeat);
  factor.parts = mergeParts(factor.parts, said.parts);
}

/// Merges the facts of a joined dim into each of its factors: those of the part that is the factor, or else those of
/// the dim. Repeats are taken only from a part, because sharers of one part do not share the others.
static void addJoined(const DimUnit &own, ArrayRef<unsigned> list, const FactorRule &rule,
                      SmallVectorImpl<DimUnit> &factors) {
  int64_t start = 0;
  for (unsigned factor : list) {
    int64_t extent = rule.factors[factor].size;
    PartUnits parts = partsWithin(own.parts, start, extent);
    DimUnit said{1, 1, parts, countedWithin(own.counted, start, extent, 0)};
    start += extent;
    if (parts.empty())
      said.size = own.size;
    else if (parts.size() == 1)
      said = {parts.front().unit, parts.front().repeat, {}, said.counted};
    add(factors[factor], extent, said);
  }
}

/// Merges the facts of each dim into its leading factor.
void UnitSearch::collect(Value value, const TensorFactors &tensor, const FactorRule &rule,
                         SmallVectorImpl<DimUnit> &factors) {
  ArrayRef<DimUnit> all = unitsOf(value);
  for (auto [dim, list] : llvm::enumerate(tensor.dims)) {
    const DimUnit &own = all[dim];
    size_t place = rule.majorPlace(list);
    int64_t below = rule.sizeBelow(list, place);
    if (place == list.size())
      continue;
    if (tensor.isJoined(dim)) {
      addJoined(own, list, rule, factors);
      continue;
    }
    int64_t sharers = tensor.sharers(dim), extent = rule.factors[list[place]].size;
    DimUnit &factor = factors[list[place]];
    if (sharers > 1)
      add(factor, extent, {shares ? 1 : own.size * sharers, 1});
    else
      add(factor, extent,
          {joinUnits(own.size, below, extent * below) / below, own.repeat, scaledDown(own.parts, below),
           below == 1 ? own.counted : SmallVector<CountedParts, 0>()});
  }
}

/// The facts of a dim that concatenates these factors.
static DimUnit joinedFactors(ArrayRef<unsigned> list, int64_t extent, const FactorRule &rule,
                             ArrayRef<DimUnit> factors) {
  DimUnit unit;
  int64_t start = 0;
  for (unsigned index : list) {
    const DimUnit &factor = factors[index];
    unit.counted.append(countedWithin(factor.counted, 0, rule.factors[index].size, start));
    start += rule.factors[index].size;
    unit.size = joinUnits(unit.size, factor.size, extent);
    if (factor.parts.empty() && rule.factors[index].size != 0)
      unit.parts.emplace_back(rule.factors[index].size, factor.size, factor.repeat);
    unit.parts.append(factor.parts);
  }
  return unit;
}

/// The counted parts of a dim: its major factor counts parts if there are factors below it. Otherwise they are the
/// parts of that factor.
static SmallVector<CountedParts, 0> countedParts(ArrayRef<unsigned> list, const FactorRule &rule,
                                                 ArrayRef<DimUnit> factors) {
  size_t major = rule.majorPlace(list);
  ArrayRef<unsigned> rest = list.drop_front(major + 1);
  size_t next = rule.majorPlace(rest);
  if (next == rest.size())
    return factors[list[major]].counted;
  int64_t count = rule.factors[list[major]].size;
  const DimUnit &unit = factors[rest[next]];
  return {{0, count * rule.sizeBelow(list, major), count, unit.size * rule.sizeBelow(rest, next), unit.repeat}};
}

/// The facts of a dim that follow from its factors.
DimUnit UnitSearch::ofFactors(const TensorFactors &tensor, unsigned dim, int64_t extent, const FactorRule &rule,
                              ArrayRef<DimUnit> factors) const {
  ArrayRef<unsigned> list = tensor.dims[dim];
  size_t place = rule.majorPlace(list);
  int64_t below = rule.sizeBelow(list, place);
  if (place == list.size())
    return {};
  if (tensor.isJoined(dim))
    return joinedFactors(list, extent, rule, factors);
  const DimUnit &unit = factors[list[place]];
  int64_t sharers = tensor.sharers(dim);
  if (sharers == 1)
    return {unit.size * below, unit.repeat, scaledUp(unit.parts, below), countedParts(list, rule, factors)};
  if (unit.size % sharers == 0)
    return {unit.size / sharers, unit.repeat};
  return {1, unit.repeat == 1 && sharers % unit.size == 0 ? sharers / unit.size : unit.repeat};
}

/// Merges the facts of the factors into the dims. True if a dim has changed.
bool UnitSearch::spread(Value value, const TensorFactors &tensor, const FactorRule &rule, ArrayRef<DimUnit> factors) {
  bool changed = false;
  SmallVector<DimUnit, 4> &own = unitsOf(value);
  for (unsigned dim = 0; dim < tensor.dims.size(); ++dim) {
    int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    DimUnit joined = own[dim];
    add(joined, extent, ofFactors(tensor, dim, extent, rule, factors));
    changed |= joined != own[dim];
    own[dim] = std::move(joined);
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
  // Query heads that are shared themselves: shards could not hold the keys of all their sharers.
  for (auto [factor, unit] : llvm::enumerate(factors))
    if (unit.repeat > 1 && isHeadOfKeys(rule, factor))
      unit.repeat = cannotShare;
  bool changed = false;
  for (auto [value, tensor] : llvm::zip(call.getOperands(), rule.operands))
    changed |= spread(value, tensor, rule, factors);
  for (auto [value, tensor] : llvm::zip(call.getResults(), rule.results))
    changed |= spread(value, tensor, rule, factors);
  return changed;
}

/// Terminates: blocks only grow, by divisors of their extents, and repeats do not grow on their own. Visiting in
/// reverse order first carries the facts of attention to the weights in one sweep.
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
  // Two tables: blocks that keep sharers together are preferred. If there are too few of them for all shards, blocks
  // may be shared.
  UnitSearch(calls, whole, /*shares=*/false).run();
  UnitSearch(calls, fine, /*shares=*/true).run();
}

const DimUnit &DimUnits::find(const Table &table, Value value, int64_t dim) {
  static const DimUnit unknown;
  auto found = table.find(madeBy(value));
  return found == table.end() ? unknown : found->second[dim];
}

int64_t DimUnits::get(Value value, int64_t dim) const { return find(whole, value, dim).size; }

SmallVector<int64_t> DimUnits::partsOf(Value value, int64_t dim) const {
  const PartUnits &parts = find(whole, value, dim).parts;
  if (parts.size() < 2)
    return {};
  return llvm::map_to_vector(parts, [](const DimPart &part) { return part.extent; });
}

SmallVector<int64_t> DimUnits::partsCounted(Value value, int64_t dim, int64_t count) const {
  SmallVector<int64_t> parts = partsOf(value, dim), sizes;
  if (parts.empty())
    parts.push_back(cast<RankedTensorType>(value.getType()).getDimSize(dim));
  bool isCounted = false;
  int64_t start = 0;
  for (int64_t extent : parts) {
    bool counts = llvm::any_of(find(whole, value, dim).counted, [&](const CountedParts &counted) {
      return counted.start == start && counted.extent == extent && counted.count == count;
    });
    sizes.append(counts ? count : 1, counts ? extent / count : extent);
    isCounted |= counts;
    start += extent;
  }
  return isCounted ? sizes : SmallVector<int64_t>();
}

static DimUnit withoutRepeats(DimUnit unit) {
  unit.repeat = 1;
  for (CountedParts &counted : unit.counted)
    counted.repeat = 1;
  for (DimPart &part : unit.parts)
    part.repeat = 1;
  return unit;
}

/// The blocks of one of several stated parts, according to the model; nothing if the model gives none.
static std::optional<DimPart> knownPart(const DimUnit &unit, int64_t start, int64_t extent) {
  for (const CountedParts &counted : unit.counted)
    if (counted.count > 1 && extent * counted.count == counted.extent && start >= counted.start &&
        start + extent <= counted.start + counted.extent && (start - counted.start) % extent == 0)
      return DimPart(extent, counted.unit, counted.repeat);
  return unit.parts.empty() ? std::nullopt : std::optional(asOnePart(unit.parts, start, extent));
}

/// The parts, or the whole dim as one part, with their blocks; nothing if one has too few blocks for all shards.
static std::optional<PartUnits> inUnits(const DimUnit &unit, ArrayRef<DimPart> parts, int64_t shards) {
  PartUnits dealt;
  int64_t start = 0;
  for (const DimPart &part : parts) {
    if (part.repeat != 1) {
      dealt.push_back(part);
      start += part.extent;
      continue;
    }
    std::optional<DimPart> known = parts.size() > 1 ? knownPart(unit, start, part.extent) : std::nullopt;
    DimPart own = known.value_or(DimPart(part.extent, unit.size, unit.repeat));
    start += part.extent;
    bool isShared = own.repeat != 1, canShare = own.repeat != cannotShare && (known || parts.size() == 1);
    // Every shard needs a block, and sharing is possible only if the sharers of the part are known.
    if ((isShared && !canShare) || own.extent % own.unit != 0 || own.extent / own.unit * own.repeat < shards)
      return std::nullopt;
    dealt.push_back(own);
  }
  return dealt;
}

DimShardingAttr DimUnits::divide(Value value, int64_t dim, ArrayRef<AxisRefAttr> axes, MeshOp mesh,
                                 ArrayRef<DimPart> parts) const {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim), shards = shardCount(axes, mesh);
  PartUnits stated(parts.begin(), parts.end());
  if (stated.empty())
    stated.emplace_back(extent);
  std::optional<PartUnits> dealt = inUnits(withoutRepeats(find(whole, value, dim)), stated, shards);
  if (!dealt)
    dealt = inUnits(find(fine, value, dim), stated, shards);
  if (!dealt)
    dealt = stated;
  if (!parts.empty())
    return divideDim(extent, axes, mesh, 1, *dealt);
  return divideDim(extent, axes, mesh, dealt->front().unit, {}, dealt->front().repeat);
}
