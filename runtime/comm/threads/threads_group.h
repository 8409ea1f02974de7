//===- threads_group.h - a communicator between threads ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_THREADS_GROUP_H
#define MESHPLAN_RUNTIME_COMM_THREADS_THREADS_GROUP_H

#include "runtime/comm/threads/threads_world.h"

namespace meshplan {

class ThreadsGroup final : public Group {
public:
  ThreadsGroup(ThreadsRun &run, std::shared_ptr<ThreadsGroupState> state, std::string name, std::vector<int64_t> ranks,
               int64_t index)
      : Group(std::move(name), std::move(ranks), index), run(run), state(std::move(state)) {}

private:
  Expected<Pending> start(Collective collective) override;

  ThreadsRun &run;
  std::shared_ptr<ThreadsGroupState> state;
  /// Number of exchanges that this rank has started with the whole group (-1, -1) or as the pair (from, to).
  std::map<std::pair<int64_t, int64_t>, int64_t> started;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_THREADS_GROUP_H
