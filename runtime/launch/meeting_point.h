//===- meeting_point.h - the store address of ranks without MPI -*- C++ -*-===//
//
// The variables that tell ranks without MPI where to meet:
//
//   MASTER_ADDR, MASTER_PORT          the machine of rank 0, and a port of it
//   TORCHELASTIC_USE_AGENT_STORE      "True": torchrun serves the store there; otherwise rank 0 does
//   TORCHELASTIC_RUN_ID, TORCHELASTIC_RESTART_COUNT
//                                     distinguish the runs of one store
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_LAUNCH_MEETING_POINT_H
#define MESHPLAN_RUNTIME_LAUNCH_MEETING_POINT_H

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <optional>

namespace meshplan {

using Environment = std::map<std::string, std::string, std::less<>>;

struct MeetingPoint {
  std::string host;
  uint16_t port = 0;
  bool isServed = false; ///< the launcher serves the store
  std::string run;       ///< prefix of the run's keys
};

/// Nullopt if neither address nor port is set; `invalid` if only one of them is, or the port is not a port number.
Expected<std::optional<MeetingPoint>> meetingPointOf(const Environment &environment);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_LAUNCH_MEETING_POINT_H
