//===- attr_syntax_test.cpp - text form of the attributes of plan ---------===//

#include "test/unit/dialect/plan_text.h"

using namespace mlir;
using namespace meshplan::plan;

namespace meshplan {
namespace {

class PlanAttrSyntax : public PlanText {
protected:
  DimShardingAttr dim(ArrayRef<AxisRefAttr> axes, bool open = false, int64_t unit = 1, ArrayRef<DimPart> parts = {},
                      int64_t repeat = 1) {
    return DimShardingAttr::get(&context, axes, open, unit, parts, repeat);
  }
};

TEST_F(PlanAttrSyntax, TextMeansTheAttribute) {
  AxisRefAttr dp = axis("dp"), tp = axis("tp");
  std::pair<const char *, Attribute> cases[] = {
      {"#plan.axis<\"tp\">", tp},
      {"#plan.axis<\"tp\":(2)4>", axis("tp", 2, 4)},
      {"#plan.dim<{}>", dim({})},
      {"#plan.dim<{?}>", dim({}, true)},
      {"#plan.dim<{\"dp\", \"tp\"}>", dim({dp, tp})},
      {"#plan.dim<{\"tp\", unit 64}>", dim({tp}, false, 64)},
      {"#plan.dim<{\"tp\", parts [64, 8, 8]}>", dim({tp}, false, 1, {64, 8, 8})},
      {"#plan.dim<{\"tp\", unit 64, repeat 3}>", dim({tp}, false, 64, {}, 3)},
      {"#plan.dim<{\"tp\", parts [8 unit 4, 4 unit 2 repeat 3, 4 repeat 2], ?}>",
       dim({tp}, true, 1, {{8, 4}, {4, 2, 3}, {4, 1, 2}})},
      {"#plan.sharding<[]>", ShardingAttr::get(&context, ArrayRef<DimShardingAttr>())},
      {"#plan.sharding<[{}, {\"tp\"}]>", ShardingAttr::get(&context, {dim({}), dim({tp})})},
      {"#plan.sharding<[{\"dp\"}], partial = sum {\"tp\"}>",
       ShardingAttr::get(&context, {dim({dp})}, Reduction::sum, {tp})},
      {"#plan.sharding<[{}], partial = min {\"dp\", \"tp\":(1)2}>",
       ShardingAttr::get(&context, {dim({})}, Reduction::min, {dp, axis("tp", 1, 2)})},
      {"#plan.sharding<[{?}], replicated = {\"tp\"}>",
       ShardingAttr::get(&context, {dim({}, true)}, Reduction::none, {}, {tp})},
      {"#plan.sharding<[{?}], partial = max {\"dp\"}, replicated = {\"tp\"}>",
       ShardingAttr::get(&context, {dim({}, true)}, Reduction::max, {dp}, {tp})},
      {"#plan.sharding<[{\"tp\"}], flat = {\"dp\"}>", ShardingAttr::get(&context, {dim({tp})}).withFlat({dp})},
      {"#plan.sharding<[{}], partial = sum {\"tp\"}, flat = {\"dp\"}>",
       ShardingAttr::get(&context, {dim({})}, Reduction::sum, {tp}).withFlat({dp})},
      {"#base.mesh_axis<\"tp\" = 8>", MeshAxisAttr::get(&context, "tp", 8)},
      {"#base.operand<3>", OperandRefAttr::get(&context, 3)},
      {"#base.local<-2, operand 1, dim 3>", LocalIntAttr::get(&context, -2, false, 1, 3, 0, 0)},
      {"#base.local<0, result 0, dim 2, extent 1>", LocalIntAttr::get(&context, 0, true, 0, 2, 0, 1)},
      {"#base.local<7, result 1, dim 0, offset -1>", LocalIntAttr::get(&context, 7, true, 1, 0, -1, 0)},
      {"#base.local<7, operand 1, dim 0, offset 2, extent -3, microbatch 4>",
       LocalIntAttr::get(&context, 7, false, 1, 0, 2, -3, 4)},
      {"#base.local<0, result 0, dim 0, microbatch -1>", LocalIntAttr::get(&context, 0, true, 0, 0, 0, 0, -1)},
      {"#base.local<7, operand 1, dim 0, offset 2, extent -3>", LocalIntAttr::get(&context, 7, false, 1, 0, 2, -3)},
  };
  expectTexts<Attribute>(cases);
}

TEST_F(PlanAttrSyntax, ItemsOfADimComeInAnyOrder) {
  EXPECT_EQ(attribute<DimShardingAttr>("#plan.dim<{?, parts [8 unit 4, 4], \"tp\"}>"),
            dim({axis("tp")}, true, 1, {{8, 4}, 4}));
  EXPECT_EQ(attribute<DimShardingAttr>("#plan.dim<{repeat 2, \"dp\", unit 4, \"tp\"}>"),
            dim({axis("dp"), axis("tp")}, false, 4, {}, 2));
}

TEST_F(PlanAttrSyntax, NothingPartialIsNotWritten) {
  EXPECT_EQ(print(attribute<ShardingAttr>("#plan.sharding<[{}], partial = none {}>")), "#plan.sharding<[{}]>");
}

TEST_F(PlanAttrSyntax, ACauseHasTextOrNot) {
  StringRef with = "#plan.cause<\"tp\" because \"rowwise tp\" at loc(\"a.plan\":7:3)>";
  auto cause = attribute<CauseAttr>(with);
  EXPECT_EQ(cause.getText().getValue(), "rowwise tp");
  EXPECT_EQ(cast<FileLineColLoc>(cause.getStatement()).getLine(), 7u);
  EXPECT_EQ(print(cause), with);
  StringRef without = "#plan.cause<\"tp\" at loc(unknown)>";
  EXPECT_FALSE(attribute<CauseAttr>(without).getText());
  EXPECT_EQ(print(attribute<CauseAttr>(without)), without);
}

TEST_F(PlanAttrSyntax, WrongTextIsNamed) {
  std::pair<const char *, const char *> cases[] = {
      // An axis
      {"#plan.axis\"tp\"", "expected '<'"},
      {"#plan.axis<tp>", "expected string"},
      {"#plan.axis<\"\">", "axis without a name"},
      {"#plan.axis<\"tp\":2>", "expected '('"},
      {"#plan.axis<\"tp\":(x)2>", "expected integer value"},
      {"#plan.axis<\"tp\":(1, 2)2>", "expected ')'"},
      {"#plan.axis<\"tp\":(2)>", "expected integer value"},
      {"#plan.axis<\"tp\":(0)2>", "sub-axis \"tp\":(0)2 needs a positive product before it and a size of at least 2"},
      {"#plan.axis<\"tp\", \"dp\">", "expected '>'"},
      // A dim
      {"#plan.dim{}", "expected '<'"},
      {"#plan.dim<[\"tp\"]>", "expected '{'"},
      {"#plan.dim<{tp}>", "expected string"},
      {"#plan.dim<{\"tp\" \"dp\"}>", "expected '}'"},
      {"#plan.dim<{unit}>", "expected integer value"},
      {"#plan.dim<{parts 3}>", "expected '['"},
      {"#plan.dim<{parts [3, ]}>", "expected integer value"},
      {"#plan.dim<{repeat x}>", "expected integer value"},
      {"#plan.dim<{\"tp\", unit 0}>", "block size is 0, must be positive"},
      {"#plan.dim<{\"tp\", parts [4, 0]}>", "part is 0, must be positive"},
      {"#plan.dim<{\"tp\", repeat 0}>", "blocks repeat 0 times, must be positive"},
      {"#plan.dim<{\"tp\", parts [4 unit 3]}>", "part of size 4 is not a multiple of its block size 3"},
      {"#plan.dim<{\"tp\", parts [4 unit 0]}>", "part of size 4 is not a multiple of its block size 0"},
      {"#plan.dim<{\"tp\", parts [4 repeat 0]}>", "blocks of a part repeat 0 times, must be positive"},
      {"#plan.dim<{\"tp\", unit 4, parts [8, 4]}>", "a dim in parts must not have a block size of its own"},
      {"#plan.dim<{\"tp\", repeat 4, parts [8, 4]}>", "a dim in parts must not have a block size of its own"},
      {"#plan.dim<{\"tp\", parts [4 repeat 2 unit 2]}>", "expected ']'"},
      {"#plan.dim<{}, {}>", "expected '>'"},
      // A sharding
      {"#plan.sharding[{}]", "expected '<'"},
      {"#plan.sharding<{}>", "expected '['"},
      {"#plan.sharding<[\"tp\"]>", "expected '{'"},
      {"#plan.sharding<[{}], partial sum {\"tp\"}>", "expected '='"},
      {"#plan.sharding<[{}], partial = {\"tp\"}>", "expected valid keyword"},
      {"#plan.sharding<[{}], partial = sum \"tp\">", "expected '{'"},
      {"#plan.sharding<[{}], partial = sum {tp}>", "expected string"},
      {"#plan.sharding<[{}], partial = mean {\"tp\"}>", "unknown reduction 'mean', expected sum, max or min"},
      {"#plan.sharding<[{}], partial = sum {}>", "a partial sharding must name both a reduction and axes"},
      {"#plan.sharding<[{}], partial = sum {\"tp\"}, partial = max {\"dp\"}>", "expected 'routed'"},
      {"#plan.sharding<[{}], sharded = {\"tp\"}>", "expected 'routed'"},
      {"#plan.sharding<[{}], replicated {\"tp\"}>", "expected '='"},
      {"#plan.sharding<[{}], replicated = \"tp\">", "expected '{'"},
      {"#plan.sharding<[{}], replicated = {\"dp\"}, partial = sum {\"tp\"}>", "expected 'routed'"},
      {"#plan.sharding<[{}], flat {\"tp\"}>", "expected '='"},
      {"#plan.sharding<[{}], flat = \"tp\">", "expected '{'"},
      {"#plan.sharding<[{}], flat = {\"tp\"}, replicated = {\"dp\"}>", "expected 'routed'"},
      {"#plan.sharding<[{\"tp\"}, {\"tp\"}]>", "axis \"tp\" is used twice in one sharding"},
      // A local integer
      {"#base.local[0]", "expected '<'"},
      {"#base.local<>", "expected integer value"},
      {"#base.local<0>", "expected ','"},
      {"#base.local<0, value 0, dim 0>", "expected 'operand'"},
      {"#base.local<0, result, dim 0>", "expected integer value"},
      {"#base.local<0, result 0>", "expected ','"},
      {"#base.local<0, result 0, 1>", "expected 'dim'"},
      {"#base.local<0, result 0, dim x>", "expected integer value"},
      {"#base.local<0, result 0, dim 0, offset>", "expected integer value"},
      {"#base.local<0, result 0, dim 0, extent>", "expected integer value"},
      {"#base.local<0, result 0, dim 0, size 1>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
      {"#base.local<0, result 0, dim 0, offset 1, offset 2>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
      {"#base.local<0, result 0, dim 0, extent 1, offset 2>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
  };
  expectFaults<Attribute>(cases);
}

} // namespace
} // namespace meshplan
