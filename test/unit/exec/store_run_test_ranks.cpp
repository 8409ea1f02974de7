#include "test/unit/exec/run_test_ranks.h"

#include "runtime/comm/store/run_store.h"
#include "test/lib/map_store/map_store.h"

#include <thread>

using namespace meshplan;

std::vector<Status> meshplan::runTestRanks(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  MapStore store;
  std::vector<Status> statuses(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      StoreMember place{.run = "test", .rank = rank, .size = size, .interruption = nullptr};
      statuses[rank] = runStore(store, place, {.timeout = timeout, .onFailure = nullptr, .onStuck = nullptr}, body);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

std::string meshplan::sharedFile(const std::string &folder) { return folder + "/out.safetensors"; }
