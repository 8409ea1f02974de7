//===- meeting_point.h - where ranks without MPI meet ------------*- C++ -*-===//
//
//   MASTER_ADDR, MASTER_PORT          the machine of rank 0, and a port of it
//   TORCHELASTIC_USE_AGENT_STORE      "True": torchrun serves the store there,
//                                     otherwise rank 0 does
//   TORCHELASTIC_RUN_ID, TORCHELASTIC_RESTART_COUNT
//                                     tell the runs of one store apart
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
  bool isServed = false; ///< by the launcher
  std::string run;       ///< begins the keys of this run
};

/// Nothing when neither address nor port is set; `invalid` when one of them is, or the port is none.
Expected<std::optional<MeetingPoint>> meetingPointOf(const Environment &environment);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_LAUNCH_MEETING_POINT_H
