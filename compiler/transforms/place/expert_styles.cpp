//===- expert_styles.cpp - what styles of experts divide ------------------===//

#include "compiler/transforms/place/expert_styles.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

ExpertStyles::ExpertStyles(func::FuncOp function, const FeatureSearch &search, const DimBlocks &blocks)
    : search(search), blocks(blocks) {
  for (auto call : function.getOps<CallOp>())
    for (const ExpertWeight &weight : weightsOfExperts(call))
      if (isWeight(weight.argument))
        readers[weight.argument].push_back({weight, call});
}

SmallVector<ExpertStyles::Reader> ExpertStyles::readersOf(const ExpertModule &module) const {
  SmallVector<Reader> found;
  for (CallOp call : module.calls)
    for (const ExpertWeight &weight : weightsOfExperts(call))
      if (isWeight(weight.argument))
        found.push_back({weight, call});
  if (found.empty())
    for (BlockArgument weight : module.own)
      llvm::append_range(found, readers.lookup(weight));
  return found;
}

SmallVector<ExpertDivision> ExpertStyles::expert(const ExpertModule &module, int64_t shards) const {
  SmallVector<ExpertDivision> divisions;
  llvm::DenseSet<BlockArgument> seen;
  for (const auto &[weight, call] : readersOf(module)) {
    // Of several elements for each expert, shards are whole experts only if the number of these is divisible.
    int64_t size = shapeOf(weight.argument)[weight.dim];
    bool isCut = weight.size > 1 && size % (weight.size * shards) != 0;
    if (!isCut && seen.insert(weight.argument).second)
      divisions.push_back({weight.argument, weight.dim});
  }
  return divisions;
}

SmallVector<ExpertDivision> ExpertStyles::within(const ExpertModule &module) {
  SmallVector<ExpertDivision> divisions;
  for (const Reader &reader : readersOf(module)) {
    std::optional<InsideUse> use = inside.find(reader.call);
    std::optional<int64_t> dim = use ? insideDimOf(reader, *use, module.path) : std::nullopt;
    if (!dim)
      continue;
    // Gate and up projections may be one weight, and are split where the rows are.
    ExpertDivision division{reader.weight.argument, *dim, blocks.partsOf(use->rows, rankOf(use->rows) - 1)};
    // Experts that several routers choose are divided once.
    if (!llvm::is_contained(divisions, division))
      divisions.push_back(std::move(division));
  }
  return divisions;
}

/// The dim of a weight or bias that has the features of the use; nothing if it is not known.
std::optional<int64_t> ExpertStyles::insideDimOf(const Reader &reader, const InsideUse &use, StringRef path) const {
  BlockArgument weight = reader.weight.argument;
  // A bias has the features of rows, so that no call tells that they are its own.
  if (CallOp(reader.call).getTarget() == "meshplan.grouped_bias")
    return rankOf(weight) == 2 ? std::optional<int64_t>(1) : std::nullopt;
  std::optional<FeatureDim> feature = search.find(weight, path).of(use.ofOutput);
  // A factor of a product of weights may have these features only in the other factor: `a` [8, 4, 64] of b @ a.
  return feature && feature->meets && feature->isDivisible ? std::optional(feature->dim) : std::nullopt;
}
