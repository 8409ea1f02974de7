#include "runtime/tensor/torch/guard.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

template <typename Throw> Status thrown(const Throw &body) {
  return guarded([&]() -> Status {
    body();
    return Status();
  });
}

} // namespace

TEST(GuardTest, ResultsPass) {
  EXPECT_TRUE(guarded([] { return Status(); }).ok());
  EXPECT_EQ(guarded([] { return Status(StatusCode::io, "disk full"); }).message(), "disk full");
  EXPECT_EQ(*guarded([]() -> Expected<int> { return 3; }), 3);
  // A result that can only be moved.
  EXPECT_EQ(**guarded([]() -> Expected<std::unique_ptr<int>> { return std::make_unique<int>(5); }), 5);
}

TEST(GuardTest, AnExceptionIsTheFailureOfAnExpected) {
  Expected<int> result = guarded([]() -> Expected<int> { throw std::runtime_error("no luck"); });
  EXPECT_EQ(result.status().message(), "no luck");
}

TEST(GuardTest, ErrorsOfLibTorchLoseTheirStackTrace) {
  Status status = thrown([] { at::zeros({2, 3}).mm(at::zeros({4, 5})); });
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  status = thrown([] { TORCH_CHECK(false, "of two\nlines"); });
  EXPECT_EQ(status.message(), "of two\nlines");
}

TEST(GuardTest, WhatIsNotImplementedIsUnsupported) {
  Status status = thrown([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "no kernel for it"); });
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_EQ(status.message(), "no kernel for it");
}

TEST(GuardTest, NoMemory) {
  Status status = thrown([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "tried to allocate 1 TiB"); });
  EXPECT_EQ(status.code(), StatusCode::outOfMemory);
  EXPECT_EQ(status.message(), "out of memory: tried to allocate 1 TiB");
  status = thrown([] { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), StatusCode::outOfMemory);
  EXPECT_EQ(status.message(), "out of memory");
}

TEST(GuardTest, OtherExceptions) {
  Status status = thrown([] { throw std::out_of_range("index 7"); });
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "index 7");
  status = thrown([] { throw 7; });
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_EQ(status.message(), "an exception of unknown type");
}
