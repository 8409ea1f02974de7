//===- recording_world.h - a world that records collectives -----*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_COMM_RECORDING_WORLD_H
#define MESHPLAN_TEST_UNIT_COMM_RECORDING_WORLD_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// Records the collectives that start on it and moves nothing; every wait returns `waitStatus`.
class RecordingGroup final : public Group {
public:
  RecordingGroup(std::string name, std::vector<int64_t> ranks, int64_t index)
      : Group(std::move(name), std::move(ranks), index) {}

  std::vector<Collective> started;
  Status waitStatus;

protected:
  Expected<Pending> start(Collective collective) override {
    started.push_back(std::move(collective));
    return Pending(std::make_unique<Done>(waitStatus));
  }

private:
  class Done final : public PendingCollective {
  public:
    explicit Done(Status status) : status(std::move(status)) {}
    Status wait(std::chrono::milliseconds) override { return status; }
    Status wait() override { return status; }
    std::vector<int64_t> missing() override { return {}; }

  private:
    Status status;
  };
};

class RecordingWorld final : public World {
public:
  RecordingWorld(int64_t size, int64_t rank) : worldSize(size), ownRank(rank) {}

  int64_t rank() const override { return ownRank; }
  int64_t size() const override { return worldSize; }
  std::chrono::milliseconds timeout() const override { return std::chrono::milliseconds(0); }
  void abort(Status cause) override { aborts.push_back(std::move(cause)); }
  Status failure() override { return aborts.empty() ? Status() : aborts.front(); }

  std::vector<Status> aborts;

protected:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override {
    return std::unique_ptr<Group>(std::make_unique<RecordingGroup>(std::move(name), std::move(ranks), index));
  }

private:
  int64_t worldSize, ownRank;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_COMM_RECORDING_WORLD_H
