//===- calibrate.h - a cluster file from measurements -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_CALIBRATE_H
#define MESHPLAN_RUNTIME_CALIBRATE_CALIBRATE_H

#include "runtime/comm/communicator.h"

#include <string>

namespace meshplan {

struct CalibrationOptions {
  std::string backend;    ///< "threads", "mpi" or "nccl"
  std::string machine;    ///< name of the machine of this rank
  std::string deviceName; ///< "AMD EPYC 7763"
  double seconds = 40;    ///< about as long
};

/// Measures products, memory-bound operators, collectives, copies and overlap with all ranks at once. A collective of
/// all ranks, whose ComputeScope is that of a run. Rank 0 receives the text of the cluster file, the others an empty
/// one. `invalid` if machines run different numbers of ranks.
Expected<std::string> calibrate(World &world, const CalibrationOptions &options);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_CALIBRATE_H
