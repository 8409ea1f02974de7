//===- lane.cpp - the collectives of one communicator, in order -----------===//

#include "runtime/comm/threads/lane.h"

using namespace meshplan;

ClaimedPieces Lane::claim(const Exchange *own, int64_t slot) {
  std::shared_ptr<Exchange> exchange = queue.front();
  int64_t piece = *exchange->claimPiece(exchange.get() == own ? slot : 0);
  // The next exchange may begin while the last pieces of this one move: their buffers are apart until the waits.
  if (!exchange->hasUnclaimed())
    queue.pop_front();
  return {std::move(exchange), {piece}};
}
