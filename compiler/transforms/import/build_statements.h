//===- build_statements.h - statements of the plan as ops -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H

#include "compiler/frontend/bind.h"
#include "compiler/transforms/import/outline_model.h"
#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"

namespace meshplan {

/// Creates the mesh, the styles of modules and the layouts at their borders at the insertion point. Reports statements
/// that no later phase supports, so that none is silently ignored. Refers to its arguments.
class StatementBuilder {
public:
  StatementBuilder(const BoundPlan &bound, const ProgramOutline &outline, Diagnostics &diagnostics,
                   mlir::OpBuilder &builder)
      : bound(bound), outline(outline), diagnostics(diagnostics), builder(builder), extents(dimExtents(bound)) {}

  void build();

  mlir::Location locate(const SourceRange &range) const;
  llvm::SmallVector<plan::AxisRefAttr> axisRefs(llvm::ArrayRef<size_t> axes) const;
  llvm::SmallVector<plan::AxisRefAttr> digitRefs(llvm::ArrayRef<AxisRef> digits) const;
  mlir::DenseI64ArrayAttr partsAttr(llvm::ArrayRef<StylePart> parts) const;

  /// The sharding that a statement asks for, for a tensor of this shape. Reports dims that the tensor does not have;
  /// `what` names the tensor.
  plan::ShardingAttr layoutOf(const BoundLayout &layout, llvm::ArrayRef<int64_t> shape, llvm::StringRef what);

  /// The attributes of a parameter that a data statement covers: the statement, its unit, and whether it is kept.
  void addData(size_t parameter, llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) const;

  /// The attribute of a parameter with initial weights that the plan draws: the distribution, and the location of the
  /// statement.
  void addInit(size_t parameter, llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) const;

private:
  plan::OptimizerGroupAttr numbersOf(const OptimizerNumbers &numbers) const;
  base::RateScheduleAttr scheduleOf(const LrSchedule &schedule) const;
  plan::LossScaleAttr scaleOf(const BoundLossScale &scale) const;
  void buildTraining();
  void buildRouting(const BoundRouting &routing);
  void buildRecompute(const BoundRecompute &recompute);
  void buildData(const BoundData &data);
  void buildPrecision(const BoundPrecision &precision);

  void refuseStatements();
  void refuseUseless();
  void buildMesh();
  void buildStyle(llvm::StringRef path, const BoundStyle &style);
  void buildBorder(const BoundModule &module, const BoundBorder &border);
  void buildOutput(const BoundOutput &output);
  void buildLossUnit(const BoundLoss &loss);
  llvm::SmallVector<plan::AxisRefAttr> governedAxes(const BoundModule &module, const BoundLayout &layout) const;
  llvm::SmallVector<plan::AxisRefAttr> allAxes() const;
  /// Names of listed dims and their sizes as attributes; null if there are none.
  mlir::ArrayAttr namesOf(llvm::ArrayRef<std::string> names) const;
  mlir::DenseI64ArrayAttr extentsOf(llvm::ArrayRef<std::string> names) const;
  plan::ShardingAttr leadingDims(const BoundLayout &layout) const;

  const BoundPlan &bound;
  const ProgramOutline &outline;
  Diagnostics &diagnostics;
  mlir::OpBuilder &builder;
  llvm::StringMap<int64_t> extents; ///< by the name of a dim
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_STATEMENTS_H
