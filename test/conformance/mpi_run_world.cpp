//===- mpi_run_world.cpp - the suite over MPI -----------------------------===//
//
// Every process runs all tests, in step. A test of n ranks runs on the first n
// processes; then all exchange what the ranks returned, so that the
// expectations hold in each process.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "test/conformance/helpers.h"

#include <cstdio>
#include <numeric>

namespace meshplan {
namespace {

/// The one of this program; set by main.
std::unique_ptr<MpiProcess> &process() {
  static std::unique_ptr<MpiProcess> instance;
  return instance;
}

Expected<std::vector<char>> gatherText(Group &group, const std::string &own, std::vector<int64_t> &sizes) {
  int64_t size = static_cast<int64_t>(own.size());
  sizes.resize(group.size());
  MESHPLAN_RETURN_IF_ERROR(finish(group.startAllGather(&size, sizes.data(), 1, DType::i64)));
  std::vector<char> texts(std::accumulate(sizes.begin(), sizes.end(), int64_t(0)));
  MESHPLAN_RETURN_IF_ERROR(finish(group.startAllGather(own.data(), texts.data(), sizes, DType::u8)));
  return texts;
}

Status gatherStatuses(World &world, const Status &own, std::vector<Status> &statuses) {
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
