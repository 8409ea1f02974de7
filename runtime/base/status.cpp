//===- status.cpp - failures of the runtime -------------------------------===//

#include "runtime/base/status.h"

namespace meshplan {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::ok:
    return "ok";
  case StatusCode::invalid:
    return "invalid";
  case StatusCode::notFound:
    return "not found";
  case StatusCode::corrupted:
    return "corrupted";
  case StatusCode::unsupported:
    return "unsupported";
  case StatusCode::io:
    return "input/output error";
  case StatusCode::timeout:
    return "time-out";
  case StatusCode::peerLost:
    return "peer lost";
  case StatusCode::aborted:
    return "aborted";
  case StatusCode::numericFault:
    return "numeric fault";
  case StatusCode::outOfMemory:
    return "out of memory";
  case StatusCode::internal:
    return "internal";
  }
  return "unknown";
}

const std::string &Status::message() const {
  static const std::string empty;
  return failure ? failure->message : empty;
}

Status Status::withContext(std::string_view context) const {
  return failure ? error(failure->code, context, ": ", failure->message) : Status();
}

} // namespace meshplan
