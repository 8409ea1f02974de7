//===- communicator_table.h - communicators and streams ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H

#include "compiler/scheduling/problem.h"
#include "compiler/transforms/schedule/layout_table.h"

namespace meshplan {

/// A communicator for each distinct list of axes, in the order of first use, and the streams of a module. All programs
/// of a module share the table.
class CommunicatorTable {
public:
  explicit CommunicatorTable(plan::MeshOp mesh);

  /// Index of the communicator over the axes of a collective.
  unsigned get(mlir::ArrayAttr axes, LayoutTable &layouts);

  const std::vector<scheduling::Communicator> &list() const { return communicators; }

  /// The stream on which all ranks compute, and the one on which the collectives of a communicator are. The symbols of
  /// streams differ from those of communicators, whatever axes the mesh has.
  const std::string &computeStream() const { return compute; }
  std::string streamOf(unsigned communicator) const { return communication + "." + communicators[communicator].name; }

  /// The stream of copies in one direction between device and host memory. From this call on streams() contains it.
  std::string useCopyStream(bool toHost);

  /// The streams that the programs use: computing, each communicator, copies.
  std::vector<std::string> streams() const;

private:
  std::string copyStream(bool toHost) const { return copies + (toHost ? ".to_host" : ".to_device"); }

  std::string compute, communication, copies;
  bool copiesTo[2] = {false, false}; ///< to the device, to the host
  llvm::DenseMap<mlir::Attribute, unsigned> byAxes;
  std::vector<scheduling::Communicator> communicators;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_COMMUNICATOR_TABLE_H
