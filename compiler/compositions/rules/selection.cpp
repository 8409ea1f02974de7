//===- selection.cpp - topk along a split dim -----------------------------===//
//
// PyTorch on CPU keeps the best k elements so far in a heap, and compares each further element of the row with the
// worst of them; the heap also decides which of several equal elements stay. To select the same indices, ranks continue
// the heap of the rank before them, one after the other in the order of the row. For rows shorter than 64 k elements
// PyTorch partitions the whole row instead; these are gathered.
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"

using namespace mlir;
using namespace meshplan;

/// PyTorch uses a heap for rows with at least this many elements for each selected one.
static constexpr int64_t heapFactor = 64;

/// The contiguous ranges of the dim that ranks hold, in order. Empty if the dim is not split or ranks share elements.
static SmallVector<Range> runsOf(RankedTensorType type, int64_t dim, plan::MeshOp mesh) {
  plan::ShardingAttr sharding = plan::getSharding(type);
  if (!sharding || sharding.getDims()[dim].getAxes().empty() || plan::isShared(sharding.getDims()[dim]))
    return {};
  DimSharding divided = plan::resolveDim(type.getDimSize(dim), sharding.getDims()[dim], mesh);
  SmallVector<Range> runs;
  for (int64_t shard = 0; shard < shardCount(divided.axes); ++shard)
    llvm::append_range(runs, shardRanges(divided, shard));
  llvm::erase_if(runs, [](Range run) { return run.size == 0; });
  llvm::sort(runs, [](Range left, Range right) { return left.offset < right.offset; });
  return runs;
}

static std::optional<ComposedDims> topkDims(const CallView &call, plan::MeshOp mesh) {
  std::optional<ComposedDims> dims = oneDim(call, "self", call.getInt("dim", -1), 0);
  int64_t count = call.getInt("k", 0);
  if (!dims)
    return std::nullopt;
  RankedTensorType self = call.operands[dims->operands.front()];
  int64_t size = self.getDimSize(dims->dims.front());
  SmallVector<Range> runs = runsOf(self, dims->dims.front(), mesh);
  if (runs.empty() || count <= 0 || count > size / heapFactor)
    return std::nullopt;
  dims->exchanged =
      static_cast<int64_t>(runs.size()) * count * (plan::elementBytes(self.getElementType()) + indexBytes);
  return dims;
}

static void topk(Composition &composition) {
  const CallView &view = composition.getView();
  Value self = composition.operand("self"), positions;
  int64_t dim = topkDims(view, composition.getMesh())->dims.front(), size = shapeOf(self)[dim];
  SmallVector<Value> heap;
  for (Range run : runsOf(cast<RankedTensorType>(self.getType()), dim, composition.getMesh())) {
    CallBuilder step = composition.make("meshplan.topk_part");
    step.tensor("self", self).tensor("positions", positions = positions ? positions : composition.indices(size));
    if (!heap.empty())
      step.tensor("values", heap[0]).tensor("indices", heap[1]);
    step.integer("k", view.getInt("k", 0)).integer("dim", dim).flag("largest", view.getBool("largest", true));
    step.integer("begin", run.offset).integer("end", run.offset + run.size).integer("size", size);
    SmallVector<Type> types = llvm::map_to_vector(view.results, [](RankedTensorType type) -> Type {
      return RankedTensorType::get(type.getShape(), type.getElementType());
    });
    heap = SmallVector<Value>(step.build(types).getResults());
  }
  composition.give(0, heap[0]);
  composition.give(1, heap[1]);
}

void meshplan::addSelectionCompositions(CompositionTable &table) { table["aten.topk.default"] = {topkDims, topk}; }
