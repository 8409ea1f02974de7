//===- mpi_environment.cpp - MPI while the tests of a program run ---------===//

#include <gtest/gtest.h>
#include <mpi.h>

namespace meshplan {
namespace {

class MpiEnvironment final : public testing::Environment {
public:
  void SetUp() override { MPI_Init(nullptr, nullptr); }
  void TearDown() override { MPI_Finalize(); }
};

[[maybe_unused]] const auto *const environment = testing::AddGlobalTestEnvironment(new MpiEnvironment);

} // namespace
} // namespace meshplan
