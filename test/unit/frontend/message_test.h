//===- message_test.h - exact messages, as a table --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_MESSAGE_TEST_H
#define MESHPLAN_TEST_UNIT_FRONTEND_MESSAGE_TEST_H

#include "test/unit/frontend/models.h"

#include <gtest/gtest.h>

namespace meshplan::test {

/// The two-layer Llama to which a plan is bound. Symbolic: batch and sequence are symbols. HeadOnly: the archive
/// freezes all but lm_head. TwoLosses: `aux` is a scalar, too. NoLoss: `logits` is the only output.
enum class Model { Llama, Tied, Symbolic, HeadOnly, TwoLosses, NoLoss };

/// A plan and all of its diagnostics.
struct MessageCase {
  const char *name;
  const char *plan;
  const char *expected;
  Model model = Model::Llama;
  std::vector<Definition> definitions = {};
};

class MessageTest : public testing::TestWithParam<MessageCase> {
public:
  static std::string nameOf(const testing::TestParamInfo<MessageCase> &info) { return info.param.name; }
};

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_MESSAGE_TEST_H
