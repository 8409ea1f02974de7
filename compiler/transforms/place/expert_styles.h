//===- expert_styles.h - what styles of experts divide ----------*- C++ -*-===//
//
// `expert` divides the experts of weights and biases, `within` the features inside
// each expert. A style is that of the module that computes rows with these weights,
// or of one that only holds them for others. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_STYLES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_STYLES_H

#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/transforms/place/feature_dims.h"
#include "compiler/transforms/place/inside_features.h"

namespace meshplan {

/// A dim that a style divides.
struct ExpertDivision {
  mlir::BlockArgument weight;
  int64_t dim = 0;
  llvm::SmallVector<int64_t> parts = {}; ///< sizes of parts that are divided separately; none for a single one

  bool operator==(const ExpertDivision &) const = default;
};

/// A module with a style: its calls, and the parameters that it owns.
struct ExpertModule {
  llvm::StringRef path;
  llvm::ArrayRef<plan::CallOp> calls;
  const llvm::SetVector<mlir::BlockArgument> &own;
};

/// The weights of experts of one function. `search` and `blocks` must outlive it.
class ExpertStyles {
public:
  /// Linear in the size of the function.
  ExpertStyles(mlir::func::FuncOp function, const FeatureSearch &search, const DimBlocks &blocks);

  /// The experts, over `shards` ranks. Weights of which a shard would not be whole experts are left out. None if the
  /// module has no weights of experts.
  llvm::SmallVector<ExpertDivision> expert(const ExpertModule &module, int64_t shards) const;

  /// The features inside the experts. None if there are no such features.
  llvm::SmallVector<ExpertDivision> within(const ExpertModule &module);

private:
  struct Reader {
    ExpertWeight weight;
    plan::CallOp call;
  };
  llvm::SmallVector<Reader> readersOf(const ExpertModule &module) const;
  std::optional<int64_t> insideDimOf(const Reader &reader, const InsideUse &use, llvm::StringRef path) const;

  const FeatureSearch &search;
  const DimBlocks &blocks;
  InsideFeatures inside;
  llvm::DenseMap<mlir::BlockArgument, llvm::SmallVector<Reader, 1>> readers;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_STYLES_H
