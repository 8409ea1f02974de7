//===- build_statements.h - what the plan states, as ops --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H

#include "compiler/frontend/dim_extents.h"
#include "compiler/transforms/import/outline_model.h"
#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"

#include <set>

namespace meshplan {

/// Writes the mesh, the styles of modules and the layouts at their borders into the module at the insertion point, and
/// reports statements that nothing behind the import honours: nothing is skipped in silence. Refers to its arguments.
class StatementBuilder {
public:
  StatementBuilder(const BoundPlan &bound, const ProgramOutline &outline, Diagnostics &diagnostics,
                   mlir::OpBuilder &builder)
      : bound(bound), outline(outline), diagnostics(diagnostics), builder(builder), extents(dimExtents(bound)) {}

  void build();

  mlir::Location locate(const SourceRange &range) const;
  llvm::SmallVector<plan::AxisRefAttr> axisRefs(llvm::ArrayRef<size_t> axes) const;
  mlir::DenseI64ArrayAttr partsAttr(llvm::ArrayRef<StylePart> parts) const;

  /// The sharding of a tensor of this shape that a statement asks for. Reports dims that the tensor does not have;
  /// `what` names it.
  plan::ShardingAttr layoutOf(const BoundLayout &layout, llvm::ArrayRef<int64_t> shape, llvm::StringRef what);

  /// The attributes of a parameter that is in a data statement: which one, its unit, whether it is kept.
  void addData(size_t parameter, llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) const;

  /// The attribute of a parameter that the plan draws: its distribution, and the place that says so.
  void addInit(size_t parameter, llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) const;

private:
  mlir::DictionaryAttr numbersOf(const OptimizerNumbers &numbers) const;
  base::RateScheduleAttr scheduleOf(const LrSchedule &schedule) const;
  plan::LossScaleAttr scaleOf(const BoundLossScale &scale) const;
  void buildTraining();
  void buildRecompute(const BoundRecompute &recompute);
  void buildData(const BoundData &data);
  void buildPrecision(const BoundPrecision &precision);

  void refuseStatements();
  void refuseUseless();
  void refuseStyle(const BoundStyle &style);
  void buildMesh();
  void buildStyle(llvm::StringRef path, const BoundStyle &style);
  void buildBorder(const BoundModule &module, const BoundBorder &border);
  void buildOutput(const BoundOutput &output);
  void buildLossUnit(const BoundLoss &loss);
  llvm::SmallVector<plan::AxisRefAttr> governedAxes(const BoundModule &module, const BoundLayout &layout) const;
  llvm::SmallVector<plan::AxisRefAttr> allAxes() const;
  /// Names of listed dims and what they stand for, as attributes; null without any.
  mlir::ArrayAttr namesOf(llvm::ArrayRef<std::string> names) const;
  mlir::DenseI64ArrayAttr extentsOf(llvm::ArrayRef<std::string> names) const;
  plan::ShardingAttr leadingDims(const BoundLayout &layout) const;

  const BoundPlan &bound;
  const ProgramOutline &outline;
  Diagnostics &diagnostics;
  mlir::OpBuilder &builder;
  llvm::StringMap<int64_t> extents;              ///< by name of a dim
  std::set<std::pair<int32_t, int32_t>> refused; ///< lines and columns of styles
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H
