//===- causes_test.cpp - statements stored in locations -------------------===//

#include "dialect/plan/plan.h"
#include "test/unit/dialect/parsed_text.h"
#include <gmock/gmock.h>

using namespace mlir;
using namespace meshplan::plan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace meshplan {
namespace {

class PlanCauses : public ParsedText<PlanDialect> {
protected:
  CauseAttr cause(StringRef axis, unsigned line) {
    return CauseAttr::get(&context, axis, StringAttr::get(&context, "rowwise " + axis), place("a.plan", line));
  }
  FileLineColLoc place(StringRef file, unsigned line) { return FileLineColLoc::get(&context, file, line, 1); }
};

TEST_F(PlanCauses, AreReadBackInOrder) {
  Location location = withCauses(place("model.py", 7), {cause("tp", 3), cause("dp", 4)});
  EXPECT_THAT(getCauses(location), ElementsAre(cause("tp", 3), cause("dp", 4)));
}

TEST_F(PlanCauses, ReplaceThoseBefore) {
  Location first = withCauses(place("model.py", 7), {cause("tp", 3)});
  EXPECT_EQ(withCauses(first, {cause("dp", 4)}), withCauses(place("model.py", 7), {cause("dp", 4)}));
  EXPECT_EQ(withCauses(first, {}), Location(place("model.py", 7))) << "without causes the location is as it was";
  EXPECT_EQ(withCauses(place("model.py", 7), {}), Location(place("model.py", 7)));
}

TEST_F(PlanCauses, LeaveOtherMetadataAlone) {
  Location other = FusedLoc::get({place("model.py", 7)}, StringAttr::get(&context, "note"), &context);
  EXPECT_THAT(getCauses(other), IsEmpty());
  Location both = withCauses(other, {cause("tp", 3)});
  EXPECT_THAT(getCauses(both), ElementsAre(cause("tp", 3)));
  EXPECT_EQ(withCauses(both, {}), other);
}

TEST_F(PlanCauses, SurviveTwoPlaces) {
  Location fused = FusedLoc::get(&context, {place("model.py", 7), place("model.py", 9)});
  Location location = withCauses(fused, {cause("tp", 3)});
  EXPECT_THAT(getCauses(location), ElementsAre(cause("tp", 3)));
  EXPECT_EQ(withCauses(location, {}), fused);
}

TEST_F(PlanCauses, ListsOfSomethingElseAreNoCauses) {
  Attribute list = ArrayAttr::get(&context, {StringAttr::get(&context, "note")});
  EXPECT_THAT(getCauses(FusedLoc::get({place("model.py", 7)}, list, &context)), IsEmpty());
  EXPECT_THAT(getCauses(UnknownLoc::get(&context)), IsEmpty());
}

} // namespace
} // namespace meshplan
