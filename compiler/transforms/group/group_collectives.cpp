//===- group_collectives.cpp - coalesces collectives ----------------------===//
//
// See GroupCollectives in passes.td. Collectives have equal keys if they are of one kind, axes, element type, purpose
// and unit. Where the schedule decides which of them are coalesced, they get the number of their key (allow()).
// Elsewhere they are assigned to buckets in program order; a bucket is closed when its size limit is reached. The
// members of a bucket are then made adjacent and get the same `bucket` attribute:
//
// - gathers move up to the first of them, because that one is needed first;
// - reductions and updates move down to the last of them, because only then all operands exist. Their readers move to
//   after it.
//
// Example: dp = 2, unit 0 has the flat parameters a and b, unit 1 has c.
//
//   before                        after
//   wa = all_gather a             wb = all_gather b     bucket 0
//   ..  mul wa                    wa = all_gather a     bucket 0
//   wb = all_gather b             ..  mul wa
//   ..  mul wb                    ..  mul wb
//   wc = all_gather c             wc = all_gather c
//   ..  mul wc                    ..  mul wc
//
//   rb = reduce_scatter gb        ga = ..
//   sgd b, rb                     rb = reduce_scatter gb  bucket 2
//   ga = ..                       ra = reduce_scatter ga  bucket 2
//   ra = reduce_scatter ga        sgd b, rb
//   sgd a, ra                     sgd a, ra
//
// A unit of one parameter needs no bucket. The backward pass has buckets of its own (bucket 1), because it gathers the
// parameters again.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/axes.h"
#include "compiler/transforms/group/data_collectives.h"
#include "compiler/transforms/group/moves.h"
#include "compiler/transforms/group/passes.h"
#include "compiler/transforms/group/storage_order.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace meshplan {
#define GEN_PASS_DEF_GROUPCOLLECTIVES
#include "compiler/transforms/group/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

using Bucket = SmallVector<DataCollective>;

/// Collectives of one kind over the same axes, of one element type, one purpose and one unit (or statement).
using Key = std::tuple<void *, void *, void *, DataTraffic, int64_t>;

class Grouping {
public:
  Grouping(func::FuncOp function, MeshOp mesh, const StorageOrder &order)
      : function(function), mesh(mesh), order(order), builder(function.getContext()) {}

  void run();

private:
  /// Gathers from storages in storage order; all others in program order.
  SmallVector<DataCollective> inOrder() const;

  /// True if the schedule decides what the collective is coalesced with, within what the plan allows.
  static bool isChoice(const DataCollective &collective);
  void allow(const DataCollective &collective);
  void block(const DataCollective &collective);
  /// Says how far ahead of its readers program order gathers a unit.
  void prefetch(const DataCollective &collective);

  static Key keyOf(const DataCollective &collective);
  int64_t bytesOf(const DataCollective &collective) const;

  /// Adds the collective to the open bucket of its key, or opens a new bucket.
  void addToBucket(const DataCollective &collective);

  /// Makes the members of a bucket adjacent: gathers at the first of them, reductions and updates at the last.
  void join(const Bucket &bucket);
  static Operation *firstOf(ArrayRef<Operation *> ops);

  struct Open {
    size_t bucket = 0;
    int64_t bytes = 0;
  };

  func::FuncOp function;
  MeshOp mesh;
  const StorageOrder &order;
  Builder builder;
  std::map<Key, Open> open;
  std::map<Key, int64_t> sets; ///< of collectives that may be coalesced
  /// Units, which count once in the forward and once in the backward pass.
  std::map<std::pair<int64_t, DataTraffic>, int64_t> gathered;
  std::vector<Bucket> buckets;
  int64_t count = 0;
};

} // namespace

void Grouping::run() {
  for (const DataCollective &collective : inOrder()) {
    // Also for collectives that are not coalesced: `blocking` is about when they are waited for.
    block(collective);
    if (collective.isGather())
      prefetch(collective);
    if (isChoice(collective))
      allow(collective);
    else
      addToBucket(collective);
  }
  for (const Bucket &bucket : buckets)
    if (bucket.size() > 1)
      join(bucket);
}

SmallVector<DataCollective> Grouping::inOrder() const {
  SmallVector<DataCollective> all = findDataCollectives(function);
  auto isStored = [](const DataCollective &each) {
    return each.isGather() && DataOp(dataOf(each.parameter)).getContiguousParameters();
  };
  // The order within a bucket is the order in the buffer. The storage has one order for all programs, so gathers from
  // it must follow it, whatever the order of their readers.
  auto *stored = std::stable_partition(all.begin(), all.end(), [&](const auto &each) { return !isStored(each); });
  std::stable_sort(stored, all.end(), [&](const DataCollective &left, const DataCollective &right) {
    return order.positionOf(left.parameter) < order.positionOf(right.parameter);
  });
  return all;
}

bool Grouping::isChoice(const DataCollective &collective) {
  DataOp data = dataOf(collective.parameter);
  bool isGradient = collective.traffic == DataTraffic::reduce;
  // Tensors in one storage have one order in all programs, and copies to the host are placed between buckets.
  if (isGradient ? data.getContiguousGradients() : data.getContiguousParameters())
    return false;
  if (data.getOffloadParameters() || data.getOffloadOptimizer())
    return false;
  // A unit that has no limit is what the plan demands. Replicated parameters are in no unit.
  return data.getBucket() ? *data.getBucket() > 0 : data.getShard() == DataStage::replicated;
}

void Grouping::allow(const DataCollective &collective) {
  int64_t set = sets.try_emplace(keyOf(collective), sets.size()).first->second;
  auto limit = static_cast<int64_t>(DataOp(dataOf(collective.parameter)).getBucket().value_or(0));
  setOpAttr<attr::Mergeable>(collective.op, MergeableAttr::get(builder.getContext(), set, limit));
}

void Grouping::block(const DataCollective &collective) {
  DataOp data = dataOf(collective.parameter);
  bool overlaps = true;
  if (collective.traffic == DataTraffic::reduce)
    overlaps = data.getOverlapGradients();
  else if (collective.isGather())
    overlaps = data.getPrefetch() > 0;
  if (!overlaps)
    setBlocking(collective.op);
}

void Grouping::prefetch(const DataCollective &collective) {
  std::pair<int64_t, DataTraffic> key{unitOf(collective.parameter), collective.traffic};
  int64_t unit = gathered.try_emplace(key, gathered.size()).first->second;
  int64_t ahead = DataOp(dataOf(collective.parameter)).getPrefetch();
  setOpAttr<attr::Prefetch>(collective.op, PrefetchAttr::get(builder.getContext(), unit, ahead));
  if (gathersInStep(collective.parameter) && instancesOf(function) > 1)
    setOpAttr<attr::Once>(collective.op, builder.getUnitAttr());
}

Key Grouping::keyOf(const DataCollective &collective) {
  Type element = cast<RankedTensorType>(collective.op->getResult(0).getType()).getElementType();
  // Attributes and types are unique in a context, so their addresses are their identities.
  return {const_cast<void *>(collective.op->getName().getAsOpaquePointer()),
          const_cast<void *>(stepAxes(collective.op).getAsOpaquePointer()),
          const_cast<void *>(element.getAsOpaquePointer()), collective.traffic, unitOf(collective.parameter)};
}

int64_t Grouping::bytesOf(const DataCollective &collective) const {
  auto input = cast<RankedTensorType>(collective.op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(collective.op->getResult(0).getType());
  // The larger side is the size of the coalesced buffer.
  return std::max(largestShardBytes(input, mesh), largestShardBytes(result, mesh));
}

void Grouping::addToBucket(const DataCollective &collective) {
  DataOp data = dataOf(collective.parameter);
  std::optional<uint64_t> limit = data.getBucket();
  int64_t bytes = bytesOf(collective);
  auto [entry, isNew] = open.try_emplace(keyOf(collective), Open{0, 0});
  Open &own = entry->second;
  // A tensor that is larger than the limit still gets a bucket of its own.
  bool isFull = limit && own.bytes + bytes > static_cast<int64_t>(*limit);
  // Without a limit all gradients of replicated parameters would wait for the last one.
  bool isAlone = limit ? *limit == 0 : data.getShard() == DataStage::replicated;
  if (isNew || isFull || isAlone) {
    own = {buckets.size(), 0};
    buckets.emplace_back();
  }
  own.bytes += bytes;
  buckets[own.bucket].push_back(collective);
}

void Grouping::join(const Bucket &bucket) {
  auto number = builder.getI64IntegerAttr(count++);
  bool isGather = bucket.front().isGather();
  SmallVector<Operation *> members = llvm::map_to_vector(bucket, [](const DataCollective &each) { return each.op; });
  Operation *anchor = isGather ? firstOf(members) : members.back();
  if (isGather)
    moveUp(members, anchor);
  // moveUp keeps the first gather in place and inserts the others before it. A storage needs them in its own order.
  if (isGather && DataOp(dataOf(bucket.front().parameter)).getContiguousParameters())
    for (Operation *next = anchor->getNextNode(); Operation *member : members)
      member->moveBefore(next);
  // A member whose reader is needed before the last member cannot move down; it stays uncoalesced.
  for (Operation *member : members)
    if (isGather || member == anchor || moveDown(member, anchor))
      setBucket(member, number);
}

Operation *Grouping::firstOf(ArrayRef<Operation *> ops) {
  return *llvm::min_element(ops, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
}

/// True if a collective over one of the statement's axes exists for one of its parameters.
static bool movesAny(DataOp data, ArrayRef<DataCollective> collectives) {
  return llvm::any_of(collectives, [&](const DataCollective &collective) {
    SmallVector<AxisRefAttr> axes = toAxes(stepAxes(collective.op));
    return dataOf(collective.parameter) == data &&
           llvm::any_of(toAxes(data.getAxes()), [&](AxisRefAttr axis) { return overlapsAny(axes, axis); });
  });
}

/// Warns of statements whose gradients are already replicated on every rank. Axes of one rank are ignored: they are for
/// other mesh sizes.
static void warnOfIdle(ModuleOp module, MeshOp mesh) {
  SmallVector<DataCollective> collectives;
  for (auto function : module.getOps<func::FuncOp>())
    llvm::append_range(collectives, findDataCollectives(function));
  for (auto data : module.getOps<DataOp>()) {
    if (data.getShard() != DataStage::replicated || shardCount(toAxes(data.getAxes()), mesh) == 1 ||
        movesAny(data, collectives))
      continue;
    auto diagnostic = data.emitWarning() << "'" << data.getText()
                                         << "' has no effect: no gradient of its parameters is reduced over "
                                            "these axes";
    diagnostic.attachNote() << "help: name the axes over which samples are split, or remove the block";
  }
}

namespace {

struct GroupCollectivesPass : meshplan::impl::GroupCollectivesBase<GroupCollectivesPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    StorageOrder order(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      Grouping(function, mesh, order).run();
    if (programOf(getOperation(), base::ProgramRole::step))
      warnOfIdle(getOperation(), mesh);
  }
};

} // namespace
