//===- ticket.cpp - how far a collective has come -------------------------===//

#include "runtime/comm/mpi/ticket.h"

using namespace meshplan;

void Ticket::update(Progress progress) {
  std::unique_lock lock(mutex);
  state = std::move(progress);
  ++updates;
}

void Ticket::finish(Status status) {
  std::unique_lock lock(mutex);
  ended = true;
  outcome = std::move(status);
  changed.notify_all();
}

void Ticket::abort(Status cause) {
  std::unique_lock lock(mutex);
  if (ended)
    return;
  ended = wasAborted = true;
  outcome = std::move(cause);
  changed.notify_all();
}

bool Ticket::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex);
  auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    int64_t before = updates;
    if (changed.wait_until(lock, deadline, [&] { return ended; }))
      return true;
    if (!state.moving || updates == before)
      return false;
    deadline = std::chrono::steady_clock::now() + limit;
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
