//===- nonfinite_weights_test.cpp - non-finite weights --------------------===//

#include "runtime/exec/numbers/nonfinite_weights.h"

#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"

#include <ATen/ATen.h>
#include <cmath>
#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class NonfiniteWeightsTest : public testing::Test {
protected:
  /// A rank's messages about its shards, when all parameters have the value `whole`.
  std::vector<std::string> texts(const at::Tensor &whole, int64_t rank) {
    LoadedSchedule loaded(builder);
    RankView view = loaded.view(rank);
    std::vector<Tensor> tensors(builder.program().values.size());
    for (const auto &parameter : builder.program().parameters) {
      std::vector<int64_t> places;
      for (const SliceRanges &slice : view.slices(parameter->value))
        for (int64_t place : elementsIn(slice, {4, 2}))
          places.push_back(place);
      at::Tensor part = whole.flatten().index_select(0, at::tensor(places, at::kLong));
      tensors[parameter->value] = wrap(part.view(view.shape(parameter->value)));
    }
    return textsOfFirstHolder(view, *nonfiniteWeights(view, tensors));
  }

  void add(const char *name, std::vector<std::string> axes, bool trains = true) {
    builder.parameter({name}, {{4, std::move(axes)}, {2}});
    builder.program().parameters.back()->trainable = trains;
  }

  ScheduleBuilder builder{{{"dp", 2}}};
  at::Tensor whole = at::tensor({0., 1., 2., 3., 4., NAN, 6., INFINITY}, at::kDouble).view({4, 2});
};

TEST_F(NonfiniteWeightsTest, OnePartAndThePlaceInTheWhole) {
  add("w", {"dp"});
  EXPECT_THAT(texts(whole, 0), IsEmpty());
  EXPECT_THAT(texts(whole, 1), ElementsAre("parameter 'w': 2 of 4 elements are not finite, the first at [2, 1]"));
}

TEST_F(NonfiniteWeightsTest, OneRankSpeaksForAll) {
  add("w", {});
  EXPECT_THAT(texts(whole, 0), ElementsAre("parameter 'w': 2 of 8 elements are not finite, the first at [2, 1]"));
  EXPECT_THAT(texts(whole, 1), IsEmpty());
}

TEST_F(NonfiniteWeightsTest, WhatIsNotTrainedMayBeInfinite) {
  add("mask", {}, /*trains=*/false);
  EXPECT_THAT(texts(whole, 0), ElementsAre("parameter 'mask': 1 of 8 elements is not finite, the first at [2, 1]"));
  EXPECT_THAT(texts(whole.nan_to_num(0, INFINITY), 0), IsEmpty());
}

} // namespace
