//===- argument_layouts.h - layouts of parameters and inputs ----*- C++ -*-===//
//
// What the plan states for arguments, and what styles make of parameters. Layouts are only recorded until all styles
// are placed, so that two statements about one parameter are found whatever their order.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_ARGUMENT_LAYOUTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_ARGUMENT_LAYOUTS_H

#include "compiler/sharding/axes.h"
#include "compiler/sharding/blocks/dim_blocks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace meshplan {

/// The axes of a style that have more than one rank.
AxisList axesOf(plan::StyleOp style, plan::MeshOp mesh);

/// The layouts of the arguments of one function. Functions that fail have reported why.
class ArgumentLayouts {
public:
  /// `blocks` must outlive this object.
  ArgumentLayouts(mlir::func::FuncOp function, plan::MeshOp mesh, const DimBlocks &blocks)
      : function(function), mesh(mesh), blocks(blocks) {}

  /// Reads the layouts that the plan states for arguments, in the blocks of the model.
  mlir::LogicalResult readStated();

  /// Divides a dim of a parameter by a style; `parts` are proportions. `expert` and `within` of one module may divide
  /// two dims of it.
  mlir::LogicalResult divide(plan::StyleOp style, mlir::BlockArgument parameter, int64_t dim,
                             llvm::ArrayRef<int64_t> parts);

  /// Gives the parameter the layout of the style; an error if another statement gives it a different one.
  mlir::LogicalResult claim(plan::StyleOp style, mlir::BlockArgument parameter, plan::ShardingAttr sharding);

  /// Parts of a dim with sizes in these proportions. No parts if none are stated; nullopt if they do not sum to the
  /// dim.
  std::optional<llvm::SmallVector<DimPart>> partsOf(llvm::ArrayRef<int64_t> proportions, int64_t shards,
                                                    mlir::Value value, int64_t dim) const;

  /// Sets the sharding of every argument on its type: that of a style, the stated one, or replicated. `styleOf` gives
  /// the style of the module that owns a parameter and keeps it replicated, or null.
  void write(llvm::function_ref<plan::StyleOp(mlir::BlockArgument)> styleOf);

  /// True the first time: one statement applies to every layer, but is wrong once.
  bool isFirstReport(mlir::Location statement) { return reported.insert(statement).second; }

private:
  /// What styles have made of a parameter: of one, or of `expert` and `within`, whose texts are joined.
  struct Placement {
    plan::ShardingAttr sharding;
    plan::StyleOp style;
    std::string text;
  };

  mlir::FailureOr<plan::ShardingAttr> statedLayout(mlir::BlockArgument argument, plan::ShardingAttr layout);

  /// The division of a dim of a parameter by a statement. The dim, and each of its parts, must have an element for each
  /// shard.
  mlir::FailureOr<plan::DimShardingAttr> divided(mlir::Location statement, mlir::BlockArgument parameter, int64_t dim,
                                                 llvm::ArrayRef<plan::AxisRefAttr> axes,
                                                 llvm::ArrayRef<int64_t> proportions);

  mlir::func::FuncOp function;
  plan::MeshOp mesh;
  const DimBlocks &blocks;
  llvm::DenseMap<mlir::BlockArgument, Placement> placed;
  llvm::DenseMap<mlir::BlockArgument, plan::ShardingAttr> stated;
  llvm::DenseSet<mlir::Location> reported;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_ARGUMENT_LAYOUTS_H
