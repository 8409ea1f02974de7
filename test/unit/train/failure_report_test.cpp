//===- failure_report_test.cpp - the report of a failed run ---------------===//

#include "runtime/train/failure_report.h"

#include "runtime/comm/threads/run_threads.h"
#include "test/unit/temporary_directory.h"

#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace meshplan {
namespace {

TEST(FailureReport, NamesWhatIsOpen) {
  TemporaryDirectory folder;
  std::atomic<bool> isWritten = false;
  (void)runThreads(2, {}, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
    world.log().beginStep(3);
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    if (world.rank() == 1) {
      isWritten.wait(false);
      return Status(StatusCode::io, "no disk");
    }
    float number = 1;
    MESHPLAN_ASSIGN_OR_RETURN(Pending open, group->startAllReduce(&number, &number, 1, DType::f32, Reduction::sum,
                                                                  {.sequence = 9, .origin = "a.plan:4 data dp"}));
    Status written = writeCollectives(world, Status(StatusCode::aborted, "rank 1: no disk"), folder.path());
    EXPECT_TRUE(written.ok()) << written.message();
    isWritten = true;
    isWritten.notify_all();
    return open->wait();
  });
  auto report = nlohmann::json::parse(std::ifstream(folder / "collectives-rank0.json"));
  EXPECT_EQ(report["rank"], 0);
  EXPECT_EQ(report["ranks"], 2);
  EXPECT_EQ(report["failure"], "rank 1: no disk");
  EXPECT_FALSE(report.contains("between_hosts"));
  auto entries = report["collectives"];
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0]["collective"], "barrier on 'dp'");
  EXPECT_EQ(entries[0]["outcome"], "ok");
  EXPECT_GE(entries[0]["seconds"], 0);
  EXPECT_EQ(entries[1]["collective"], "all-reduce 9 on 'dp' (a.plan:4 data dp)");
  EXPECT_EQ(entries[1]["outcome"], "not waited for");
  EXPECT_EQ(entries[1]["step"], 3);
  EXPECT_EQ(entries[1]["bytes"], 4);
  EXPECT_TRUE(entries[1]["seconds"].is_null());
}

TEST(FailureReport, AFolderThatIsNotThere) {
  Status status = rootCause(runThreads(
      1, {}, [](World &world) { return writeCollectives(world, Status(StatusCode::io, "x"), "/nowhere/at/all"); }));
  EXPECT_EQ(status.code(), StatusCode::notFound);
}

} // namespace
} // namespace meshplan
