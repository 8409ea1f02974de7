//===- mpi_world.h - a rank's view of the processes of a run ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_MPI_WORLD_H
#define MESHPLAN_RUNTIME_COMM_MPI_MPI_WORLD_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/mpi/engine.h"
#include "runtime/comm/wire.h"

namespace meshplan {

/// Belongs to the thread of the rank.
class MpiWorld final : public World {
public:
  explicit MpiWorld(Engine &engine) : engine(engine) {}

  int64_t rank() const override { return engine.rank(); }
  int64_t size() const override { return engine.size(); }
  std::chrono::milliseconds timeout() const override { return engine.timeout(); }
  void abort(Status cause) override { engine.abort(std::move(cause)); }
  Status failure() override { return engine.failure(); }

private:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;

  Engine &engine;
  GroupNames groupNames;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_MPI_WORLD_H
