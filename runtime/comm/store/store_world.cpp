//===- store_world.cpp - a rank's view of ranks that share a store --------===//
//
// Collectives over a store of keys, for the hosts of ranks whose data moves over NCCL: ids, reports, agreements. There
// is no progress thread. A start posts the rank's part; a wait polls until all parts exist and then does the whole work
// itself. Every rank reads all parts, so n ranks move n times the bytes and the store serves all of it: right for
// kilobytes between machines that share nothing else, and wrong for tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/store/store_world.h"
#include "runtime/comm/failures.h"
#include "runtime/comm/store/posted.h"

#include <algorithm>
#include <thread>

using namespace meshplan;

/// The store is queried for a failure at most this often.
static constexpr std::chrono::milliseconds askForCauseEvery{20};

static std::string textOf(const Status &status) {
  // A message may contain long names of a model.
  constexpr size_t longest = KeyValueStore::largestValue / 2;
  WireWriter writer;
  writer.putStatus({status.code(), status.message().substr(0, longest)});
  std::vector<std::byte> bytes = writer.take();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

static Status statusOf(const std::string &text) { return WireReader(std::as_bytes(std::span(text))).takeStatus(); }

void StoreWorld::abort(Status reason) {
  // The first reason wins on all ranks, so that the messages of all ranks name one cause.
  auto kept = store.setOnce(keyOf("failure"), textOf(reason));
  std::lock_guard lock(mutex);
  if (cause.ok()) // if the store is gone, the others notice by themselves
    cause = kept ? statusOf(*kept) : std::move(reason);
}

Status StoreWorld::failureNow() {
  std::string key = keyOf("failure");
  auto there = store.has({key});
  Status found = there.status();
  if (there && *there) {
    auto text = store.get(key);
    found = text ? statusOf(*text) : text.status();
  }
  std::lock_guard lock(mutex);
  asked = std::chrono::steady_clock::now();
  if (cause.ok())
    cause = found;
  return cause;
}

Status StoreWorld::failure() {
  {
    std::lock_guard lock(mutex);
    if (!cause.ok() || std::chrono::steady_clock::now() < asked + askForCauseEvery)
      return cause;
  }
  return failureNow();
}

Expected<std::unique_ptr<Group>> StoreWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  std::string key = keyOf(toHexadecimal(groupNames.next(name, ranks)));
  return std::unique_ptr<Group>(
      std::make_unique<StoreGroup>(*this, std::move(key), std::move(name), std::move(ranks), index));
}

namespace {

using Clock = std::chrono::steady_clock;

// A query is a round trip to another machine, so faster polling gains nothing.
constexpr std::chrono::microseconds shortestRest{50}, longestRest{5000};

/// The keys and participants of one collective in the store.
struct Meeting {
  std::string key;
  std::string group;          ///< name
  Participants participants;  ///< indices in the group
  std::vector<int64_t> ranks; ///< world ranks, parallel to participants.indices
  int64_t ownIndex;           ///< index in the group

  std::string keyOf(size_t slot) const { return key + "/" + std::to_string(participants.indices[slot]); }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (size_t slot = 0; slot < ranks.size(); ++slot)
      all.push_back(keyOf(slot));
    return all;
  }
};

class StorePending final : public PendingCollective {
public:
  StorePending(StoreWorld &world, Meeting meeting, Collective collective, std::string what)
      : world(world), store(world.keyValueStore()), meeting(std::move(meeting)), collective(std::move(collective)),
        what(std::move(what)) {}
  ~StorePending() override;

  Status wait() override { return wait(world.timeout()); }
  Status wait(std::chrono::milliseconds limit) override;
  std::vector<int64_t> missing() override;

private:
  Status waitForPeers(std::chrono::milliseconds limit);
  Status take();
  Status leave(std::span<const Posted> parts);

  StoreWorld &world;
  KeyValueStore &store;
  Meeting meeting;
  Collective collective;
  std::string what; // "rank 0: all-reduce 12 on 'tp'"
  bool settled = false;
  Status result;
};

StorePending::~StorePending() {
  // When all have posted, the store has a copy of every input, and no peer needs this rank any more.
  if (!settled && !missing().empty())
    world.abort(Status(StatusCode::peerLost, what + ": ended before its wait"));
}

std::vector<int64_t> StorePending::missing() {
  std::vector<int64_t> absent;
  for (size_t slot = 0; slot < meeting.ranks.size() && !settled; ++slot)
    if (auto there = store.has({meeting.keyOf(slot)}); !there || !*there)
      absent.push_back(meeting.ranks[slot]);
  return absent;
}

Status StorePending::wait(std::chrono::milliseconds limit) {
  if (settled)
    return result;
  result = waitForPeers(limit);
  if (result.ok()) {
    // The whole collective happens in the wait: without a progress thread, nothing could move data earlier.
    result = take();
    if (!result.ok())
      result = result.withContext(what);
  }
  if (!result.ok())
    world.abort(result);
  settled = true;
  return result;
}

Status StorePending::waitForPeers(std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  std::vector<std::string> keys = meeting.keys();
  // Exponential backoff: short collectives end fast, and long waits do not load the store.
  for (auto rest = shortestRest;; rest = std::min(longestRest, rest * 2)) {
    auto there = store.has(keys);
    if (!there)
      return there.status().withContext(what);
    if (*there)
      return Status();
    // Polled, because nothing notifies a rank of a failure elsewhere.
    if (Status cause = world.failure(); !cause.ok())
      return abortedFailure(what, missing(), cause);
    if (Clock::now() >= deadline)
      break;
    std::this_thread::sleep_for(rest);
  }
  // Key by key, which costs a query for each rank; needed only for the message.
  std::vector<int64_t> absent = missing();
  // The last peer may have arrived after the deadline.
  return absent.empty() ? Status() : timeoutFailure(what, limit, absent);
}

/// All ranks have started: compares their parts and computes this rank's output.
Status StorePending::take() {
  std::vector<Posted> parts;
  for (size_t slot = 0; slot < meeting.ranks.size(); ++slot) {
    MESHPLAN_ASSIGN_OR_RETURN(Posted part, readPosted(store, meeting.keyOf(slot)));
    parts.push_back(std::move(part));
  }
  std::vector<Participant> participants;
  for (size_t slot = 0; slot < parts.size(); ++slot)
    participants.push_back({meeting.ranks[slot], meeting.participants.indices[slot], &parts[slot].collective});
  if (Status status = checkAgreement(participants, meeting.group); !status.ok())
    return status.withContext("the ranks disagree");
  takeOutput(collective, meeting.ownIndex, parts, meeting.participants.indices);
  return leave(parts);
}

/// Counts the ranks that have read all parts; the last one removes them.
Status StorePending::leave(std::span<const Posted> parts) {
  // The store is shared by the whole run, so posts must not accumulate over thousands of steps.
  std::string counter = meeting.key + "/left";
  MESHPLAN_ASSIGN_OR_RETURN(int64_t left, store.add(counter, 1));
  if (left < static_cast<int64_t>(meeting.ranks.size()))
    return Status();
  // No rank reads them after it has added to the counter, so the last one may remove all parts.
  for (size_t slot = 0; slot < parts.size(); ++slot)
    MESHPLAN_RETURN_IF_ERROR(removePosted(store, meeting.keyOf(slot), parts[slot]));
  return store.remove(counter);
}

} // namespace

Expected<Pending> StoreGroup::start(Collective collective) {
  std::string what = "rank " + std::to_string(ranks()[index()]) + ": " + describe(collective, name());
  if (Status cause = world.failure(); !cause.ok())
    return abortedFailure(what, {}, cause);
  Meeting meeting{.group = name(), .participants = participantsOf(collective, size(), index()), .ownIndex = index()};
  auto [first, second] = meeting.participants.pair;
  int64_t number = started[meeting.participants.pair]++;
  // The same key on every rank, because all start the collectives of a group in the same order.
  meeting.key = key + "/" + std::to_string(first) + "/" + std::to_string(second) + "/" + std::to_string(number);
  for (int64_t member : meeting.participants.indices)
    meeting.ranks.push_back(ranks()[member]);
  // Posted at the start, so that peers can finish even if this rank computes before its wait.
  if (Status status = post(world.keyValueStore(), meeting.keyOf(meeting.participants.slot), collective, index());
      !status.ok()) {
    world.abort(status.withContext(what));
    return status.withContext(what);
  }
  return Pending(std::make_unique<StorePending>(world, std::move(meeting), std::move(collective), std::move(what)));
}
