//===- build_graph.h - the feature graph of a program -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_BUILD_GRAPH_H
#define MESHPLAN_COMPILER_DRAFT_BUILD_GRAPH_H

#include "compiler/draft/feature_graph.h"
#include "compiler/frontend/model_outline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// The feature graph of an imported function, whose first arguments are the parameters of `model`, in order.
FeatureGraph buildFeatureGraph(mlir::func::FuncOp function, const ModelOutline &model);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_BUILD_GRAPH_H
