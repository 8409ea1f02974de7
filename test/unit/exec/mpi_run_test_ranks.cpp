//===- mpi_run_test_ranks.cpp - tests of exec over MPI --------------------===//
//
// Linked with the conformance suite's way to run ranks over MPI: every process runs all tests in the same order, and
// has the results of all ranks.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/run_world.h"
#include "test/unit/exec/run_test_ranks.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace meshplan;

namespace {

int64_t filesSoFar = 0;

/// All processes have the same parent, whose id distinguishes the files of several runs.
std::string fileOf(int64_t number) {
  std::string name = "meshplan-exec-" + std::to_string(::getppid()) + "-" + std::to_string(number) + ".safetensors";
  return std::filesystem::temp_directory_path() / name;
}

void removeFile(int64_t number) {
  std::error_code missing;
  std::filesystem::remove(fileOf(number), missing);
}

/// Removes the last files when all processes have read them.
class LastFiles final : public testing::Environment {
  void TearDown() override {
    runTestRanks(1, std::chrono::seconds(60), [](World &) { return Status(); });
    removeFile(filesSoFar - 1);
    removeFile(filesSoFar - 2);
  }
};

[[maybe_unused]] const testing::Environment *lastFiles = testing::AddGlobalTestEnvironment(new LastFiles);

} // namespace

std::vector<Status> meshplan::runTestRanks(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  return runBackend(size, {.timeout = timeout, .beforeProgress = nullptr}, body);
}

/// Of the files before, all processes have read all but the last one.
std::string meshplan::sharedFile(const std::string &) {
  removeFile(filesSoFar - 2);
  return fileOf(filesSoFar++);
}
