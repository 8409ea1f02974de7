//===- mpi_lost_writer.cpp - the process that owns the outputs is killed --===//
//
// Rank 0 creates the output file and is killed; the others give up, remove it, and report that.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "runtime/exec/shared_output.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace meshplan;

static Status loseFirst(World &world, const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, path, {{{"x", DType::f32, {4}}}}));
  if (world.rank() == 0)
    std::raise(SIGKILL);
  return output.commit();
}

int main() {
  auto process = MpiProcess::start();
  if (!process)
    return 1;
  // All processes have the same parent, whose id distinguishes the folders of several runs.
  auto folder = std::filesystem::temp_directory_path() / ("meshplan-lost-writer-" + std::to_string(::getppid()));
  std::filesystem::create_directories(folder);
  Status status = (*process)->run({.timeout = std::chrono::seconds(2)},
                                  [&](World &world) { return loseFirst(world, folder / "o.safetensors"); });
  std::printf("%s\n", status.message().c_str());
  bool lost = status.message().find("rank 0 did not arrive") != std::string::npos;
  std::error_code notEmpty;
  std::filesystem::remove(folder, notEmpty);
  if (lost && !notEmpty)
    std::printf("rank %d: nothing is left\n", static_cast<int>((*process)->rank()));
  return 0;
}
