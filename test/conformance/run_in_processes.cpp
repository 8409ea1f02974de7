//===- run_in_processes.cpp - worlds whose ranks are processes ------------===//

#include "test/conformance/run_in_processes.h"

#include "test/conformance/helpers.h"

#include <numeric>

using namespace meshplan;

static Expected<std::vector<char>> gatherText(Group &group, const std::string &own, std::vector<int64_t> &sizes) {
  int64_t size = static_cast<int64_t>(own.size());
  sizes.resize(group.size());
  MESHPLAN_RETURN_IF_ERROR(finish(group.startAllGather(&size, sizes.data(), 1, DType::i64)));
  std::vector<char> texts(std::accumulate(sizes.begin(), sizes.end(), int64_t(0)));
  MESHPLAN_RETURN_IF_ERROR(finish(group.startAllGather(own.data(), texts.data(), sizes, DType::u8)));
  return texts;
}

static Status gatherStatuses(World &world, const Status &own, std::vector<Status> &statuses) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
  int64_t code = static_cast<int64_t>(own.code());
  std::vector<int64_t> codes(world.size()), sizes;
  MESHPLAN_RETURN_IF_ERROR(finish(group->startAllGather(&code, codes.data(), 1, DType::i64)));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<char> texts, gatherText(*group, own.message(), sizes));
  for (int64_t rank = 0, begin = 0; rank < world.size(); begin += sizes[rank++])
    statuses.push_back(codes[rank] == 0 ? Status()
                                        : Status(static_cast<StatusCode>(codes[rank]),
                                                 std::string(texts.data() + begin, static_cast<size_t>(sizes[rank]))));
  return Status();
}

std::vector<Status> meshplan::runInProcesses(const RunRank &run, int64_t processes, int64_t size,
                                             std::chrono::milliseconds timeout, const RankBody &body) {
  if (size > processes)
    return std::vector<Status>(size, Status::error(StatusCode::invalid, size, " processes are needed"));
  Status own = run(timeout, body, size);
  std::vector<Status> statuses;
  auto gather = [&](World &world) { return gatherStatuses(world, own, statuses); };
  Status gathered = run(longTimeout, gather, processes);
  EXPECT_TRUE(gathered.ok()) << gathered.message();
  statuses.resize(size);
  return statuses;
}
