//===- sweeps_test.cpp - which sweep computes a sum -----------------------===//

#include "compiler/transforms/partition/sweeps.h"
#include "test/unit/dialect/plan_text.h"
#include "llvm/ADT/STLExtras.h"

#include <random>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

/// A function of numbers that are sums over the microbatches, or additions of earlier numbers.
struct DrawnStep {
  std::string text;
  std::vector<std::set<int>> behind; ///< for each sum: the sums that it depends on
};

DrawnStep drawStep(std::mt19937 &random) {
  DrawnStep step;
  step.text = "plan.mesh [#base.mesh_axis<\"microbatch\" = 4>]\n"
              "!n = tensor<f32, #plan.sharding<[]>>\n"
              "!a = tensor<f32, #plan.sharding<[], partial = sum {\"microbatch\"}>>\n"
              "func.func @step(%v0: !n) -> !n {\n";
  std::vector<std::set<int>> sumsOf(1); // for each number
  int numbers = std::uniform_int_distribution(1, 12)(random);
  for (int number = 1; number <= numbers; ++number) {
    auto earlier = [&] { return std::uniform_int_distribution(0, number - 1)(random); };
    int left = earlier(), right = earlier();
    std::string name = std::to_string(number);
    std::set<int> sums = sumsOf[left];
    if (random() % 2) {
      step.text += "%a" + name + " = plan.call \"aten.sum.default\"(%v" + std::to_string(left) +
                   ") {self = #base.operand<0>} : (!n) -> !a\n%v" + name + " = plan.all_reduce %a" + name +
                   " [#plan.axis<\"microbatch\">] : !a -> !n\n";
      step.behind.push_back(sums);
      sums.insert(static_cast<int>(step.behind.size()) - 1);
    } else {
      step.text += "%v" + name + " = plan.call \"aten.add.Tensor\"(%v" + std::to_string(left) + ", %v" +
                   std::to_string(right) + ") {self = #base.operand<0>, other = #base.operand<1>} : (!n, !n) -> !n\n";
      sums.insert(sumsOf[right].begin(), sumsOf[right].end());
    }
    sumsOf.push_back(std::move(sums));
  }
  step.text += "return %v" + std::to_string(numbers) + " : !n\n}\n";
  return step;
}

class SweepsTest : public PlanText {};

/// As few sweeps as the longest chain of sums, and each sum as late as those that depend on it allow.
TEST_F(SweepsTest, AsFewAndAsLateAsDependencesAllow) {
  std::mt19937 random(3);
  for (int draw = 0; draw < 200 && !HasFailure(); ++draw) {
    DrawnStep step = drawStep(random);
    SCOPED_TRACE(step.text);
    readModule(step.text);
    Sweeps sweeps(function());
    int count = static_cast<int>(step.behind.size());
    ASSERT_EQ(sweeps.getSums().size(), step.behind.size());
    std::vector<int64_t> chain(count, 0);
    int64_t last = 0;
    for (int sum = 0; sum < count; ++sum) {
      for (int before : step.behind[sum])
        chain[sum] = std::max(chain[sum], chain[before] + 1);
      last = std::max(last, chain[sum]);
    }
    EXPECT_EQ(sweeps.getLast(), last);
    for (int sum = 0; sum < count; ++sum) {
      int64_t latest = last;
      for (int later = sum + 1; later < count; ++later)
        if (step.behind[later].count(sum))
          latest = std::min(latest, sweeps.getSums()[later].sweep - 1);
      EXPECT_EQ(sweeps.getSums()[sum].sweep, latest) << "sum " << sum;
    }
  }
}

} // namespace
