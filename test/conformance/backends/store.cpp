//===- store.cpp - the suite over a store within the process --------------===//

#include "runtime/comm/store/run_store.h"
#include "test/conformance/run_world.h"
#include "test/lib/map_store/map_store.h"

#include <thread>

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  MapStore store;
  std::vector<Status> statuses(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      StoreMember member{.run = "test", .rank = rank, .size = size, .interruption = nullptr};
      statuses[rank] =
          runStore(store, member, {.timeout = options.timeout, .onFailure = nullptr, .onStuck = nullptr}, body);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

Omissions omissions() { return {}; }

} // namespace meshplan
