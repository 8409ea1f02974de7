//===- collective_log.cpp - the flight recorder ---------------------------===//

#include "runtime/comm/collective_log.h"

using namespace meshplan;

void CollectiveLog::beginStep(int64_t number) {
  std::lock_guard lock(mutex);
  step = number;
}

int64_t CollectiveLog::start(std::string what, int64_t bytes) {
  std::lock_guard lock(mutex);
  if (kept.size() == capacity)
    kept.pop_front();
  kept.push_back({count, step, std::move(what), bytes, Clock::now(), std::nullopt, StatusCode::ok});
  return count++;
}

void CollectiveLog::end(int64_t number, StatusCode outcome) {
  std::lock_guard lock(mutex);
  // More collectives than the capacity may be in flight, or a wait may come very late.
  if (kept.empty() || number < kept.front().number)
    return;
  // The numbers of the kept entries are consecutive, so the distance from the first one is the index.
  Entry &entry = kept[number - kept.front().number];
  entry.ended = Clock::now();
  entry.outcome = outcome;
}

std::vector<CollectiveLog::Entry> CollectiveLog::entries() const {
  std::lock_guard lock(mutex);
  return {kept.begin(), kept.end()};
}

std::vector<std::string> CollectiveLog::open() const {
  std::lock_guard lock(mutex);
  std::vector<std::string> open;
  for (const Entry &entry : kept)
    if (!entry.ended)
      open.push_back(entry.what);
  return open;
}
