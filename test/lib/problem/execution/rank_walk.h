//===- rank_walk.h - one rank works through its list ------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_RANK_WALK_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_RANK_WALK_H

#include "runtime/comm/communicator.h"
#include "runtime/tensor/copy_lane.h"
#include "test/lib/delays/delayed_world.h"
#include "test/lib/problem/execution/execution.h"

#include <map>

namespace meshplan::scheduling {

/// Belongs to the thread of its rank.
class RankWalk {
public:
  /// `execution` and `world` must outlive it.
  RankWalk(const Execution &execution, World &world, Delays delays);

  /// Works through the list. A failure names the rank and the step.
  Status run();

private:
  using Elements = std::vector<uint64_t>;

  /// An all-reduce or a copy that was started.
  struct Flight {
    Tensor sent, received;
    Payload expected; ///< in `received`, when it is over
    Pending collective;
    std::unique_ptr<PendingCopy> copy; // last members: destroyed first, while the tensors exist
  };

  Status makeGroups();
  Status runStep(Step step);
  Status compute(unsigned operation);
  Status start(unsigned operation);
  Status wait(unsigned operation);
  Status free(unsigned buffer);
  Status checkKept() const;
  Status startCollective(Group &group, size_t count, Payload part, Payload sum, CollectiveLabel label,
                         std::vector<Flight> &flights);
  Status startCopy(unsigned operation, Flight &flight);

  Payload expectedIn(unsigned buffer) const;
  Status checkBuffer(unsigned buffer) const;
  Status checkConsumed(unsigned operation) const;
  Status produce(unsigned operation);
  bool isWritten(unsigned operation, unsigned buffer) const;

  const Execution &execution;
  World &world;
  Delays delays;
  Place place;
  const Problem &problem;
  std::vector<std::optional<unsigned>> producers;                   // by buffer
  std::map<unsigned, std::unique_ptr<Group>> groups, meetingGroups; // by communicator; by meeting
  std::map<unsigned, std::unique_ptr<CopyLane>> copyLanes;          // by lane
  std::vector<Elements> storages;                                   // by the buffer that owns it
  std::vector<bool> isLive;                                         // by buffer
  std::map<unsigned, std::vector<Flight>> inFlight; // by operation; last member: destroyed before lanes and groups
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_RANK_WALK_H
