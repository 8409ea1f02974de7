//===- ticket.cpp - the state of a collective -----------------------------===//
//
// Example of a time-out: a limit of 10 s and a lead of 5 s, and one rank that never starts the collective.
//
//   0 s    wait begins
//   5 s    no movement: beforeEnd asks the missing ranks whether they are alive
//   10 s   still none: `wait` returns false, and the caller knows which ranks have not answered
//
// If data moves at 3 s, this is noticed at 5 s, and a new round of 10 s begins.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/ticket.h"

#include <algorithm>

using namespace meshplan;

void Ticket::update(Progress progress) {
  std::unique_lock lock(mutex);
  state = std::move(progress);
  if (state.moving)
    movedIn.begin = std::min(movedIn.begin, std::chrono::steady_clock::now());
  // Not a wake-up: the waiting rank compares this number when its time is over, so that moving data extends the wait.
  ++updates;
}

void Ticket::finish(Status status) {
  std::unique_lock lock(mutex);
  ended = true;
  movedIn.end = std::chrono::steady_clock::now();
  outcome = std::move(status);
  changed.notify_all();
}

void Ticket::abort(Status cause) {
  std::unique_lock lock(mutex);
  // The collective may finish while the run fails elsewhere; then its result is valid.
  if (ended)
    return;
  ended = wasAborted = true;
  outcome = std::move(cause);
  changed.notify_all();
}

bool Ticket::endsWithin(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit) {
  return changed.wait_for(lock, limit, [&] { return ended; });
}

bool Ticket::wait(std::chrono::milliseconds limit, std::chrono::milliseconds lead,
                  const std::function<void()> &beforeEnd) {
  std::unique_lock lock(mutex);
  for (;;) {
    // Each round waits `limit` without progress. The last part of it, `lead`, comes after beforeEnd, which asks the
    // missing ranks whether they are alive. Movement is looked for at the end of a round and not at each update, which
    // would wake the rank for every chunk; so a stall is noticed between one and two limits after the last movement.
    int64_t before = updates;
    auto moves = [&] { return state.moving && updates != before; };
    if (endsWithin(lock, limit - lead))
      return true;
    if (moves())
      continue;
    if (beforeEnd) {
      lock.unlock();
      // Without the lock: it sends messages, and the progress thread needs the lock for its updates.
      beforeEnd();
      lock.lock();
    }
    if (endsWithin(lock, lead))
      return true;
    if (!moves())
      return false;
  }
}

bool Ticket::finished() const {
  std::unique_lock lock(mutex);
  return ended;
}

Status Ticket::result(bool &aborted) const {
  std::unique_lock lock(mutex);
  aborted = wasAborted;
  return outcome;
}

Progress Ticket::progress() const {
  std::unique_lock lock(mutex);
  return state;
}

MoveInterval Ticket::interval() const {
  std::unique_lock lock(mutex);
  return {std::min(movedIn.begin, movedIn.end), movedIn.end};
}
