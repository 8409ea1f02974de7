//===- failures.cpp - messages about lost peers ---------------------------===//

#include "runtime/comm/failures.h"

#include "runtime/base/names.h"

using namespace meshplan;

static double secondsOf(std::chrono::milliseconds limit) { return std::chrono::duration<double>(limit).count(); }

/// ", and does not answer" if no missing rank answers, else "; ranks ... do not answer" with those that do not. `joint`
/// starts the first form.
static std::string silenceOf(std::span<const int64_t> missing, std::span<const int64_t> silent,
                             const char *joint = ", and") {
  if (silent.empty())
    return "";
  std::string verb = silent.size() == 1 ? " does not answer" : " do not answer";
  return silent.size() == missing.size() ? joint + verb : "; " + rankList(silent) + verb;
}

Status meshplan::timeoutFailure(const std::string &what, std::chrono::milliseconds limit,
                                std::span<const int64_t> missing, std::span<const int64_t> silent) {
  return Status::error(StatusCode::timeout, what, ": time-out after ", secondsOf(limit), " s: ", rankList(missing),
                       " did not arrive", silenceOf(missing, silent));
}

Status meshplan::stalledFailure(const std::string &what, std::chrono::milliseconds limit,
                                std::span<const int64_t> missing, std::span<const int64_t> silent) {
  return Status::error(StatusCode::timeout, what, ": time-out after ", secondsOf(limit),
                       " s: no data moves to or from ", rankList(missing), silenceOf(missing, silent, ", which"));
}

Status meshplan::abortedFailure(const std::string &what, std::span<const int64_t> missing, const Status &cause) {
  StatusCode code = cause.code() == StatusCode::peerLost ? StatusCode::peerLost : StatusCode::aborted;
  std::string waiting = missing.empty() ? "" : " while waiting for " + rankList(missing);
  return Status::error(code, what, ": aborted", waiting, ": ", cause.message());
}
