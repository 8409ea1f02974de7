//===- meeting_point.cpp - the store address of ranks without MPI ---------===//

#include "runtime/launch/meeting_point.h"

#include <charconv>

using namespace meshplan;

static std::string textOf(const Environment &environment, std::string_view name) {
  auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

static Expected<uint16_t> portOf(const std::string &text) {
  uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    return Status::error(StatusCode::invalid, "MASTER_PORT is '", text, "', not a port");
  return port;
}

Expected<std::optional<MeetingPoint>> meshplan::meetingPointOf(const Environment &environment) {
  MeetingPoint meeting{.host = textOf(environment, "MASTER_ADDR")};
  std::string port = textOf(environment, "MASTER_PORT");
  if (meeting.host.empty() && port.empty())
    return std::optional<MeetingPoint>();
  // Half of an address is left over from another job, and a guess for the other half would connect to a foreign store.
  if (meeting.host.empty() || port.empty())
    return Status::error(StatusCode::invalid, meeting.host.empty() ? "MASTER_PORT" : "MASTER_ADDR", " is set and ",
                         meeting.host.empty() ? "MASTER_ADDR" : "MASTER_PORT",
                         " is not; help: unset it, or set both to the machine of rank 0 and a free port of it");
  MESHPLAN_ASSIGN_OR_RETURN(meeting.port, portOf(port));
  meeting.isServed = textOf(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  // A restart of the job uses the same store, so its keys must differ from those of the failed run.
  meeting.run = "meshplan/" + textOf(environment, "TORCHELASTIC_RUN_ID") + "/" +
                textOf(environment, "TORCHELASTIC_RESTART_COUNT");
  return std::optional(meeting);
}
