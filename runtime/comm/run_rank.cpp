//===- run_rank.cpp - running one rank ------------------------------------===//

#include "runtime/comm/run_rank.h"

#include <exception>
#include <new>

using namespace meshplan;

static Status callBody(World &world, const RankBody &body) {
  // An exception that leaves the function of a thread ends the process without a report.
  try {
    return body(world);
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::outOfMemory, "out of memory");
  } catch (const std::exception &error) {
    return Status::error(StatusCode::internal, "exception: ", error.what());
  } catch (...) {
    return Status(StatusCode::internal, "exception of an unknown type");
  }
}

Status meshplan::runRank(World &world, const RankOptions &options, const RankBody &body) {
  Status result = callBody(world, body);
  if (result.ok())
    return result;
  // The peers are told first: onFailure may write a long report, and meanwhile they would wait in vain.
  world.abort(Status::error(StatusCode::peerLost, "rank ", world.rank(), " failed: ", result.message()));
  if (options.onFailure)
    options.onFailure(world.rank(), result);
  return result;
}
