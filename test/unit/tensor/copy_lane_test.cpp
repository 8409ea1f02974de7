#include "runtime/tensor/copy_lane.h"

#include "runtime/tensor/torch/access.h"

#include <atomic>
#include <chrono>

using namespace meshplan;

namespace {

std::unique_ptr<PendingCopy> mustStart(CopyLane &lane, const at::Tensor &from, const at::Tensor &into) {
  auto pending = lane.start(wrap(from), wrap(into));
  EXPECT_TRUE(pending.ok()) << pending.status().message();
  return *std::move(pending);
}

constexpr int64_t many = 1 << 22;

/// True once the last element, which a copy writes last, is 1. Gives up after 20 seconds.
bool arrives(const at::Tensor &tensor) {
  std::atomic_ref<float> last(tensor.data_ptr<float>()[tensor.numel() - 1]);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (last.load() != 1 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return last.load() == 1;
}

} // namespace

TEST(CopyLaneTest, CopiesInTheOrderOfTheStarts) {
  CopyLane lane(CopyDirection::toHost);
  std::vector<at::Tensor> tensors = {at::randn({many})};
  std::vector<std::unique_ptr<PendingCopy>> copies;
  // Each copy reads what the one before it has written.
  for (int i = 0; i < 8; ++i) {
    tensors.push_back(at::zeros({many}));
    copies.push_back(mustStart(lane, tensors[i], tensors[i + 1]));
  }
  Status status = copies.back()->wait();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(at::equal(tensors.back(), tensors.front()));
}

TEST(CopyLaneTest, TheCopyIsMadeBesideTheThreadThatStartedIt) {
  CopyLane lane(CopyDirection::toDevice);
  at::Tensor from = at::ones({many}), into = at::zeros({many});
  std::unique_ptr<PendingCopy> pending = mustStart(lane, from, into);
  EXPECT_TRUE(arrives(into)) << "before anything waits for it";
  EXPECT_TRUE(pending->wait().ok());
  EXPECT_TRUE(at::equal(into, from));
}

TEST(CopyLaneTest, AFailureComesFromTheWaitOfItsCopy) {
  CopyLane lane(CopyDirection::toHost);
  at::Tensor from = at::ones({4}), into = at::zeros({4});
  std::unique_ptr<PendingCopy> wrong = mustStart(lane, from, at::zeros({5})), right = mustStart(lane, from, into);
  EXPECT_TRUE(right->wait().ok());
  EXPECT_TRUE(at::equal(into, from));
  Status status = wrong->wait();
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "cannot copy [4] f32 into [5] f32");
}

TEST(CopyLaneTest, WhoDropsACopyWaitsForIt) {
  CopyLane lane(CopyDirection::toHost);
  at::Tensor from = at::ones({many}), into = at::zeros({many});
  mustStart(lane, from, into).reset();
  EXPECT_TRUE(at::equal(into, from));
  EXPECT_EQ(from.use_count(), 1) << "the lane keeps nothing";
}

TEST(CopyLaneTest, StridedTensors) {
  CopyLane lane(CopyDirection::toHost);
  at::Tensor from = at::randn({3, 5}).t(), into = at::zeros({5, 3});
  EXPECT_TRUE(mustStart(lane, from, into)->wait().ok());
  EXPECT_TRUE(at::equal(into, from));
}

TEST(CopyLaneTest, ALaneWithoutCopies) { CopyLanes lanes; }
