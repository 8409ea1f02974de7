//===- shared_library_test.cpp - a library that is opened at run time -----===//

#include "runtime/base/shared_library.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(SharedLibrary, GivesFunctions) {
  SharedLibrary library("libm.so.6");
  double (*magnitude)(double) = nullptr;
  library.take(magnitude, "fabs");
  ASSERT_NE(magnitude, nullptr);
  EXPECT_EQ(magnitude(-3), 3);
  EXPECT_EQ(library.failure(), "");
}

TEST(SharedLibrary, KeepsTheFirstFailure) {
  SharedLibrary library("libm.so.6");
  void (*function)() = nullptr;
  library.takeIfThere(function, "meshplan_optional");
  EXPECT_EQ(library.failure(), "");
  library.take(function, "meshplan_first");
  library.take(function, "meshplan_second");
  EXPECT_EQ(library.failure(), "it has no meshplan_first");
}

TEST(SharedLibrary, HasNothingWithoutItsFile) {
  SharedLibrary library("libnot-there.so.1");
  void *(*function)(size_t) = nullptr;
  library.take(function, "malloc"); // a function of other libraries
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.failure(), "libnot-there.so.1: cannot open shared object file: No such file or directory");
}

} // namespace
