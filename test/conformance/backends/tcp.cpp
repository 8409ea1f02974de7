//===- tcp.cpp - the suite over a store between processes -----------------===//
//
// Every process runs all tests in the same order. A test of n ranks runs on the first n processes; then all processes
// exchange the ranks' statuses, so that the expectations hold in each process.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/store/run_store.h"
#include "runtime/rendezvous/tcp_store.h"
#include "test/conformance/helpers.h"
#include "test/conformance/run_in_processes.h"

#include <cstdio>
#include <cstdlib>

namespace meshplan {
namespace {

/// This process among those that the command run_processes of test/harness has started.
struct Process {
  std::unique_ptr<KeyValueStore> store;
  int64_t rank = 0, size = 1, runs = 0;

  Status run(std::chrono::milliseconds timeout, const RankBody &body, int64_t ranks) {
    std::string name = "run " + std::to_string(runs++);
    if (rank >= ranks)
      return Status();
    StoreMember member{.run = name, .rank = rank, .size = ranks, .interruption = nullptr};
    return runStore(*store, member, {.timeout = timeout, .onFailure = nullptr, .onStuck = nullptr}, body);
  }
};

/// The one process of this program; set by main.
Process &process() {
  static Process instance;
  return instance;
}

int64_t number(const char *variable) { return std::atoll(std::getenv(variable)); }

} // namespace

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  auto run = [](std::chrono::milliseconds limit, const RankBody &rank, int64_t ranks) {
    return process().run(limit, rank, ranks);
  };
  return runInProcesses(run, process().size, size, options.timeout, body);
}

Omissions omissions() { return {}; }

} // namespace meshplan

int main(int argc, char **argv) {
  meshplan::Process &own = meshplan::process();
  own.rank = meshplan::number("RANK");
  own.size = meshplan::number("WORLD_SIZE");
  meshplan::TcpAddress address{std::getenv("MASTER_ADDR"), static_cast<uint16_t>(meshplan::number("MASTER_PORT"))};
  auto store = meshplan::openTcpStore(address, own.rank == 0, meshplan::longTimeout);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.status().message().c_str());
    return 1;
  }
  own.store = *std::move(store);
  // One report of the results is enough.
  if (own.rank != 0)
    testing::GTEST_FLAG(brief) = true;
  testing::InitGoogleTest(&argc, argv);
  int result = RUN_ALL_TESTS();
  // Rank 0 hosts the store.
  meshplan::StoreMember member{
      .run = "end", .rank = own.rank, .size = own.size, .isHost = true, .interruption = nullptr};
  (void)meshplan::runStore(*own.store, member, {.timeout = meshplan::longTimeout},
                           [](meshplan::World &) { return meshplan::Status(); });
  own.store.reset();
  return result;
}
