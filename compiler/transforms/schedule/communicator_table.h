//===- communicator_table.h - the communicators of a module -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H

#include "compiler/scheduling/problem.h"
#include "compiler/transforms/schedule/layout_table.h"

namespace meshplan {

/// A communicator for each distinct list of axes, in the order of first use. All programs of a module share the table.
class CommunicatorTable {
public:
  /// Index of the communicator over the axes of a collective.
  unsigned get(mlir::ArrayAttr axes, LayoutTable &layouts);

  const std::vector<scheduling::Communicator> &list() const { return communicators; }

private:
  llvm::DenseMap<mlir::Attribute, unsigned> byAxes;
  std::vector<scheduling::Communicator> communicators;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H
