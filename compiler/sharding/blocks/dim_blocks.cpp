//===- dim_blocks.cpp - blocks of dims that are not cut -------------------===//
//
// A fixpoint over the calls of a function. Facts about a dim (its block size, repeat count and parts) go to the leading
// factor of the dim (collect), are merged there with those of the other tensors of the call, and come back to all dims
// of the factor (spread). Each merge takes the least common multiple of block sizes, so a block fits all operators that
// compute or read the value. One forward sweep would not do: attention fixes the blocks, and the weights that need them
// come long before it.
//
// Example: 9 query heads of 64 features, 3 key heads (each has 3 sharers).
//
//   table   factor of the heads   features of q   features of k
//   whole   block of 3            blocks of 192   blocks of 64
//   fine    block of 1            blocks of 64    blocks of 64, repeat 3
//
// Over tp = 3 the three blocks of `whole` suffice: a rank has 3 query heads and their key. Over tp = 4 they do not. By
// the blocks of `fine` the ranks get 3, 2, 2 and 2 query heads, and a key head is on every rank that has one of its
// sharers.

#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/sharding/op_record.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

using Blocks = llvm::DenseMap<Value, SmallVector<DimBlock, 4>>;

/// One call with its rule.
struct RuledCall {
  CallOp call;
  FactorRule rule;
};

/// All calls that have a rule, and where their values are.
struct RuledCalls {
  std::vector<RuledCall> calls;
  llvm::DenseMap<Value, SmallVector<unsigned, 2>> of; ///< positions of the calls that compute or read a value
};

/// Finds the blocks by visiting all calls until nothing changes.
class BlockSearch {
public:
  /// With `shares`, a shared block does not join its sharers into one block.
  BlockSearch(const RuledCalls &all, Blocks &blocks, bool shares)
      : calls(all.calls), callsOf(all.of), blocks(blocks), shares(shares), isSettled(calls.size()) {}
  void run();

private:
  /// Visits a call if a value of it has changed since its last visit.
  void visit(unsigned position);
  void collect(Value value, const TensorFactors &tensor, const FactorRule &rule, SmallVectorImpl<DimBlock> &factors);
  void spread(Value value, const TensorFactors &tensor, const FactorRule &rule, ArrayRef<DimBlock> factors);
  DimBlock ofFactors(const TensorFactors &tensor, unsigned dim, int64_t extent, const FactorRule &rule,
                     ArrayRef<DimBlock> factors) const;
  SmallVector<DimBlock, 4> &blocksOf(Value value);

  ArrayRef<RuledCall> calls;
  const llvm::DenseMap<Value, SmallVector<unsigned, 2>> &callsOf;
  Blocks &blocks;
  bool shares;
  llvm::BitVector isSettled; ///< of each call: no value of it has changed since its last visit
};

} // namespace

/// True if the indices of the factor share an index of some dim: the factor counts query heads.
static bool isHeadOfKeys(const FactorRule &rule, unsigned factor) {
  return llvm::any_of(rule.operands, [&](const TensorFactors &tensor) {
    return llvm::any_of(tensor.shared, [&](auto shared) { return tensor.dims[shared.first].front() == factor; });
  });
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

static RuledCalls ruledCalls(func::FuncOp function) {
  RuledCalls all;
  function.walk([&](CallOp call) {
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    if (!record)
      return;
    for (Value value : call->getOperands())
      all.of[madeBy(value)].push_back(all.calls.size());
    for (Value value : call->getResults())
      all.of[value].push_back(all.calls.size());
    all.calls.push_back({call, factorRuleOf(view, record)});
  });
  return all;
}

SmallVector<DimBlock, 4> &BlockSearch::blocksOf(Value value) {
  value = madeBy(value);
  auto [entry, isNew] = blocks.try_emplace(value);
  if (isNew)
    entry->second.assign(cast<RankedTensorType>(value.getType()).getRank(), DimBlock());
  return entry->second;
}

/// Merges the counted parts of one view into those of other views.
static void add(SmallVectorImpl<CountedParts> &known, const CountedParts &said) {
  auto *same = llvm::find_if(
      known, [&](const CountedParts &parts) { return parts.start == said.start && parts.extent == said.extent; });
  if (same == known.end()) {
    known.push_back(said);
  } else if (same->count != said.count) {
    // It stays in the list: if it were removed, a later view could bring a count that another view contradicts.
    same->count = CountedParts::disputed;
    same->unit = same->repeat = 1;
  } else if (same->count != CountedParts::disputed) {
    same->unit = joinBlocks(same->unit, said.unit, said.extent / said.count);
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
static void add(DimBlock &factor, int64_t extent, const DimBlock &said) {
  for (const CountedParts &parts : said.counted)
    add(factor.counted, parts);
  factor.size = joinBlocks(factor.size, said.size, extent);
  factor.repeat = std::max(factor.repeat, said.repeat);
  factor.parts = mergeParts(factor.parts, said.parts);
}

/// Merges the facts of a joined dim into each of its factors: those of the part that is the factor, or else those of
/// the dim. Repeats are taken only from a part, because sharers of one part do not share the others.
static void addJoined(const DimBlock &own, ArrayRef<unsigned> list, const FactorRule &rule,
                      SmallVectorImpl<DimBlock> &factors) {
  int64_t start = 0;
  for (unsigned factor : list) {
    int64_t extent = rule.factors[factor].size;
    // Only parts that end at the borders of the factor are facts about it.
    PartBlocks parts = partsWithin(own.parts, start, extent);
    DimBlock said{1, 1, parts, countedWithin(own.counted, start, extent, 0)};
    start += extent;
    if (parts.empty())
      said.size = own.size;
    else if (parts.size() == 1)
      said = {parts.front().unit, parts.front().repeat, {}, said.counted};
    add(factors[factor], extent, said);
  }
}

/// Merges the facts of each dim into its leading factor.
void BlockSearch::collect(Value value, const TensorFactors &tensor, const FactorRule &rule,
                          SmallVectorImpl<DimBlock> &factors) {
  ArrayRef<DimBlock> all = blocksOf(value);
  for (auto [dim, list] : llvm::enumerate(tensor.dims)) {
    const DimBlock &own = all[dim];
    size_t major = rule.majorFactorIndex(list);
    int64_t below = rule.sizeBelow(list, major);
    if (major == list.size())
      continue;
    if (tensor.isJoined(dim)) {
      addJoined(own, list, rule, factors);
      continue;
    }
    int64_t sharers = tensor.sharers(dim), extent = rule.factors[list[major]].size;
    DimBlock &factor = factors[list[major]];
    if (sharers > 1)
      // The sharers of a block of keys form one block of queries, unless the block may be on several ranks. The repeat
      // count of the keys stays with them (ofFactors): here it would say that the query heads are shared.
      add(factor, extent, {shares ? 1 : own.size * sharers, 1});
    else
      // Counted parts are ranges of elements. With factors below, an index of this factor is a run of elements, to
      // which they do not apply.
      add(factor, extent,
          {joinBlocks(own.size, below, extent * below) / below, own.repeat, scaledDown(own.parts, below),
           below == 1 ? own.counted : SmallVector<CountedParts, 0>()});
  }
}

/// The facts of a dim that concatenates these factors.
static DimBlock joinedFactors(ArrayRef<unsigned> list, int64_t extent, const FactorRule &rule,
                              ArrayRef<DimBlock> factors) {
  DimBlock block;
  int64_t start = 0;
  for (unsigned index : list) {
    const DimBlock &factor = factors[index];
    block.counted.append(countedWithin(factor.counted, 0, rule.factors[index].size, start));
    start += rule.factors[index].size;
    block.size = joinBlocks(block.size, factor.size, extent);
    // A joined tensor that is not fused is one part. Empty tensors take part in concatenations, too, but a part has
    // elements.
    if (factor.parts.empty() && rule.factors[index].size != 0)
      block.parts.emplace_back(rule.factors[index].size, factor.size, factor.repeat);
    block.parts.append(factor.parts);
  }
  return block;
}

/// The counted parts of a dim: its major factor counts parts if there are factors below it. Otherwise they are the
/// parts of that factor.
static SmallVector<CountedParts, 0> countedParts(ArrayRef<unsigned> list, const FactorRule &rule,
                                                 ArrayRef<DimBlock> factors) {
  size_t major = rule.majorFactorIndex(list);
  ArrayRef<unsigned> rest = list.drop_front(major + 1);
  size_t next = rule.majorFactorIndex(rest);
  if (next == rest.size())
    return factors[list[major]].counted;
  int64_t count = rule.factors[list[major]].size;
  const DimBlock &block = factors[rest[next]];
  return {{0, count * rule.sizeBelow(list, major), count, block.size * rule.sizeBelow(rest, next), block.repeat}};
}

/// The facts of a dim that follow from its factors.
DimBlock BlockSearch::ofFactors(const TensorFactors &tensor, unsigned dim, int64_t extent, const FactorRule &rule,
                                ArrayRef<DimBlock> factors) const {
  ArrayRef<unsigned> list = tensor.dims[dim];
  size_t major = rule.majorFactorIndex(list);
  int64_t below = rule.sizeBelow(list, major);
  if (major == list.size())
    return {};
  if (tensor.isJoined(dim))
    return joinedFactors(list, extent, rule, factors);
  const DimBlock &block = factors[list[major]];
  int64_t sharers = tensor.sharers(dim);
  if (sharers == 1)
    return {block.size * below, block.repeat, scaledUp(block.parts, below), countedParts(list, rule, factors)};
  if (block.size % sharers == 0)
    return {block.size / sharers, block.repeat};
  // A block of queries is part of the sharers of one key. The key then counts once for each block of its sharers.
  return {1, block.repeat == 1 && sharers % block.size == 0 ? sharers / block.size : block.repeat};
}

/// Merges the facts of the factors into the dims. The calls of a value that changes have to be visited.
void BlockSearch::spread(Value value, const TensorFactors &tensor, const FactorRule &rule, ArrayRef<DimBlock> factors) {
  SmallVector<DimBlock, 4> &own = blocksOf(value);
  bool changed = false;
  for (unsigned dim = 0; dim < tensor.dims.size(); ++dim) {
    int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    // Merged, not replaced: the facts of other calls about this value must stay, or the fixpoint would oscillate.
    DimBlock joined = own[dim];
    add(joined, extent, ofFactors(tensor, dim, extent, rule, factors));
    changed |= joined != own[dim];
    own[dim] = std::move(joined);
  }
  if (!changed)
    return;
  for (unsigned call : callsOf.find(madeBy(value))->second)
    isSettled.reset(call);
}

void BlockSearch::visit(unsigned position) {
  if (isSettled.test(position))
    return;
  // What it changes itself, it has to see as well.
  isSettled.set(position);
  auto &[call, rule] = calls[position];
  SmallVector<DimBlock> factors =
      llvm::map_to_vector(rule.factors, [](const Factor &factor) { return DimBlock{factor.unit, 1}; });
  CallOp op = call;
  for (auto [value, tensor] : llvm::zip(op.getOperands(), rule.operands))
    collect(value, tensor, rule, factors);
  for (auto [value, tensor] : llvm::zip(op.getResults(), rule.results))
    collect(value, tensor, rule, factors);
  // Query heads that are shared themselves: shards could not hold the keys of all their sharers.
  for (auto [factor, block] : llvm::enumerate(factors))
    if (block.repeat > 1 && isHeadOfKeys(rule, factor))
      block.repeat = cannotShare;
  for (auto [value, tensor] : llvm::zip(op.getOperands(), rule.operands))
    spread(value, tensor, rule, factors);
  for (auto [value, tensor] : llvm::zip(op.getResults(), rule.results))
    spread(value, tensor, rule, factors);
}

/// Terminates: blocks only grow, by divisors of their extents, and repeats do not grow on their own. Visiting in
/// reverse order first carries the facts of attention to the weights in one sweep.
void BlockSearch::run() {
  while (!isSettled.all()) {
    for (unsigned position = calls.size(); position-- > 0;)
      visit(position);
    for (unsigned position = 0; position < calls.size(); ++position)
      visit(position);
  }
}

DimBlocks::DimBlocks(func::FuncOp function) {
  RuledCalls calls = ruledCalls(function);
  // Two tables: blocks that keep sharers together are preferred. If there are too few of them for all shards, blocks
  // may be shared.
  BlockSearch(calls, whole, /*shares=*/false).run();
  BlockSearch(calls, fine, /*shares=*/true).run();
}

const DimBlock &DimBlocks::find(const Table &table, Value value, int64_t dim) {
  static const DimBlock unknown;
  auto found = table.find(madeBy(value));
  return found == table.end() ? unknown : found->second[dim];
}

int64_t DimBlocks::get(Value value, int64_t dim) const { return find(whole, value, dim).size; }

SmallVector<int64_t> DimBlocks::partsOf(Value value, int64_t dim) const {
  const PartBlocks &parts = find(whole, value, dim).parts;
  if (parts.size() < 2)
    return {};
  return llvm::map_to_vector(parts, [](const DimPart &part) { return part.extent; });
}

SmallVector<int64_t> DimBlocks::partsCounted(Value value, int64_t dim, int64_t count) const {
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

static DimBlock withoutRepeats(DimBlock block) {
  block.repeat = 1;
  for (CountedParts &counted : block.counted)
    counted.repeat = 1;
  for (DimPart &part : block.parts)
    part.repeat = 1;
  return block;
}

/// The blocks of one of several stated parts, according to the model; nothing if the model gives none.
static std::optional<DimPart> knownPart(const DimBlock &block, int64_t start, int64_t extent) {
  for (const CountedParts &counted : block.counted)
    if (counted.count > 1 && extent * counted.count == counted.extent && start >= counted.start &&
        start + extent <= counted.start + counted.extent && (start - counted.start) % extent == 0)
      return DimPart(extent, counted.unit, counted.repeat);
  return block.parts.empty() ? std::nullopt : std::optional(asOnePart(block.parts, start, extent));
}

/// The parts, or the whole dim as one part, with their blocks; nothing if one has too few blocks for all shards.
static std::optional<PartBlocks> inBlocks(const DimBlock &block, ArrayRef<DimPart> parts, int64_t shards) {
  PartBlocks distributed;
  int64_t start = 0;
  for (const DimPart &part : parts) {
    if (part.repeat != 1) {
      distributed.push_back(part);
      start += part.extent;
      continue;
    }
    std::optional<DimPart> known = parts.size() > 1 ? knownPart(block, start, part.extent) : std::nullopt;
    DimPart own = known.value_or(DimPart(part.extent, block.size, block.repeat));
    start += part.extent;
    bool isShared = own.repeat != 1, canShare = own.repeat != cannotShare && (known || parts.size() == 1);
    // Every shard needs a block, and sharing is possible only if the sharers of the part are known.
    if ((isShared && !canShare) || own.extent % own.unit != 0 || own.extent / own.unit * own.repeat < shards)
      return std::nullopt;
    distributed.push_back(own);
  }
  return distributed;
}

DimShardingAttr DimBlocks::divide(Value value, int64_t dim, ArrayRef<AxisRefAttr> axes, MeshOp mesh,
                                  ArrayRef<DimPart> parts) const {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim), shards = shardCount(axes, mesh);
  PartBlocks stated(parts.begin(), parts.end());
  if (stated.empty())
    stated.emplace_back(extent);
  std::optional<PartBlocks> distributed = inBlocks(withoutRepeats(find(whole, value, dim)), stated, shards);
  if (!distributed)
    distributed = inBlocks(find(fine, value, dim), stated, shards);
  if (!distributed)
    distributed = stated;
  if (!parts.empty())
    return divideDim(extent, axes, mesh, 1, *distributed);
  return divideDim(extent, axes, mesh, distributed->front().unit, {}, distributed->front().repeat);
}
