//===- describe.h - explanations of values ----------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_DESCRIBE_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_DESCRIBE_H

#include "compiler/report/explain/explanation.h"
#include "compiler/report/explain/moves.h"

namespace meshplan {

/// Turns values and operations of a partitioned program into the plain structs of an explanation.
class Describer {
public:
  /// Files of locations are looked up in `sources`.
  Describer(plan::MeshOp mesh, const Sources &sources) : mesh(mesh), sources(sources) {}

  /// The statement at a location. Without `text`, the text that the location covers.
  Statement statement(mlir::Location location, mlir::StringAttr text = {}) const;

  TensorExplanation tensor(mlir::Value value) const;

  /// The producer of a value that is not a reshard of another one. The given layout is that of `seen`.
  End producer(mlir::Value origin, mlir::Value seen) const;
  End consumer(mlir::OpOperand &use) const;
  /// The consumers, each once.
  std::vector<End> consumers(llvm::ArrayRef<mlir::OpOperand *> uses) const;

  ReshardExplanation reshard(const Move &move) const;
  /// The reshards of a set, in program order; equal ones in equal layers are merged.
  std::vector<ReshardExplanation> reshards(const MoveTable &moves, const MoveSet &set) const;

private:
  std::vector<AxisName> axisNames(llvm::ArrayRef<plan::AxisRefAttr> axes) const;
  std::vector<Statement> reasons(mlir::Value value, llvm::ArrayRef<plan::AxisRefAttr> axes) const;
  FlatExplanation flat(mlir::Value value) const;
  StepExplanation step(mlir::Operation *op) const;
  std::vector<Statement> needs(const Move &move, const Statement &cause) const;

  plan::MeshOp mesh;
  const Sources &sources;
};

/// The number of elements in each shard of a dim; one entry if all are equal. Pure.
std::vector<int64_t> shardExtents(const DimSharding &dim);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_DESCRIBE_H
