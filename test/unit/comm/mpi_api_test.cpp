//===- mpi_api_test.cpp - the MPI library, present or missing -------------===//

#include "runtime/comm/mpi/api.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(MpiApi, TheInstalledLibraryHasWhatIsUsed) {
  ASSERT_TRUE(installedMpi()) << installedMpi().status().message();
  EXPECT_NE(mpi().MPI_Isend, nullptr);
  EXPECT_NE(mpi().world, mpi().nullComm);
}

TEST(MpiApi, AMissingLibraryIsRefused) {
  auto api = openMpi("libnot-there.so.40");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.status().code(), StatusCode::unsupported);
  EXPECT_EQ(api.status().message(),
            "the backend mpi needs libnot-there.so.40, which cannot be used here: libnot-there.so.40: cannot open "
            "shared object file: No such file or directory; help: install it, or start one process without a "
            "launcher, which runs all ranks");
}

} // namespace
