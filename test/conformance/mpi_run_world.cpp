//===- mpi_run_world.cpp - the suite over MPI -----------------------------===//
//
// Every process runs all tests, in step. A test of n ranks runs on the first n
// processes; then all exchange what the ranks returned, so that the
// expectations hold in each process.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "test/conformance/gather_statuses.h"
#include "test/conformance/helpers.h"

#include <cstdio>

namespace meshplan {
namespace {

/// The one of this program; set by main.
std::unique_ptr<MpiProcess> &process() {
  static std::unique_ptr<MpiProcess> instance;
  return instance;
}

} // namespace

std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  if (size > process()->size())
    return std::vector<Status>(size, Status::error(StatusCode::invalid, size, " processes are needed"));
  Status own = process()->run({.timeout = timeout, .onStuck = nullptr}, body, size);
  std::vector<Status> statuses;
  Status gathered = process()->run({.timeout = longTimeout, .onStuck = nullptr},
                                   [&](World &world) { return gatherStatuses(world, own, statuses); });
  EXPECT_TRUE(gathered.ok()) << gathered.message();
  statuses.resize(size);
  return statuses;
}

Omissions omissions() { return {}; }

} // namespace meshplan

int main(int argc, char **argv) {
  auto started = meshplan::MpiProcess::start();
  if (!started) {
    std::fprintf(stderr, "%s\n", started.status().message().c_str());
    return 1;
  }
  meshplan::process() = *std::move(started);
  // One report of what passes is enough.
  if (meshplan::process()->rank() != 0)
    testing::GTEST_FLAG(brief) = true;
  testing::InitGoogleTest(&argc, argv);
  int result = RUN_ALL_TESTS();
  meshplan::process().reset();
  return result;
}
