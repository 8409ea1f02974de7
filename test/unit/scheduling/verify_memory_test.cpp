//===- verify_memory_test.cpp - the memory limit of a solution ------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

// mlp holds 210 bytes while the all-reduce runs: w, x, y and z.
TEST(VerifyMemory, V9TheLimitHolds) {
  EXPECT_EQ(verifyText(std::string(mlp) + "memory_limit 210\n", mlpSteps), "");
  EXPECT_EQ(verifyText(std::string(mlp) + "memory_limit 209\n", mlpSteps),
            "V9: a rank of class 0 holds 210 bytes at step 'start reduce', the limit is 209: x 100, y 50, z 50 and 1 "
            "more at 'reduce'");
}

TEST(VerifyMemory, EveryRankClassHasItsLimit) {
  std::string problem = "rank_classes 2\nlane compute\nbuffer x 8 4 permanent\nbuffer y 2 1 kept\n"
                        "operation a on compute reads x writes y\n";
  EXPECT_EQ(verifyText(problem + "memory_limit 10 5\n", "run a\n"), "");
  EXPECT_EQ(verifyText(problem + "memory_limit 10 4\n", "run a\n"),
            "V9: a rank of class 1 holds 5 bytes at step 'run a', the limit is 4: x 4, y 1 at 'a'");
}

TEST(VerifyMemory, PermanentBuffersAloneMayBeTooMuch) {
  EXPECT_EQ(verifyText("buffer x 8 permanent\nmemory_limit 7\n", ""),
            "V9: a rank of class 0 holds 8 bytes, the limit is 7: x 8 at the end");
}
