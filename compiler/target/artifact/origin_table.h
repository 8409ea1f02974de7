//===- origin_table.h - where instructions come from ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ORIGIN_TABLE_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ORIGIN_TABLE_H

#include "mlir/IR/Operation.h"
#include "runtime/schema/schedule_generated.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// Collects the sources and origins that the instructions of all programs share.
class OriginTable {
public:
  /// Index of the origin of a step: its plan statement, if its location names one, its module, and its direction
  /// (`sched.direction`). -1 if none of the three is known.
  int32_t originOf(mlir::Operation *step);

  /// Moves the collected tables into the schedule.
  void moveInto(artifact::ScheduleT &schedule);

private:
  int32_t sourceOf(mlir::Location location, mlir::StringAttr text);

  using Key = std::pair<mlir::Attribute, mlir::Attribute>;
  llvm::DenseMap<Key, int32_t> sourceIndex; ///< by plan location and text
  llvm::DenseMap<std::tuple<int32_t, mlir::Attribute, mlir::Attribute>, int32_t> originIndex;
  std::vector<std::unique_ptr<artifact::SourceT>> sources;
  std::vector<std::unique_ptr<artifact::OriginT>> origins;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ORIGIN_TABLE_H
