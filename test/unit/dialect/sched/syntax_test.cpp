//===- syntax_test.cpp - text form of attributes and types of sched -------===//

#include "dialect/sched/sched.h"
#include "test/unit/dialect/parsed_text.h"

using namespace mlir;
using namespace meshplan::sched;

namespace meshplan {
namespace {

class SchedSyntax : public ParsedText<SchedDialect> {
protected:
  AxisAttr axis(int64_t index, int64_t pre, int64_t size) { return AxisAttr::get(&context, index, pre, size); }
  DimAttr dim(int64_t extent, ArrayRef<AxisAttr> axes = {}, int64_t unit = 1, ArrayRef<DimPart> parts = {},
              int64_t repeat = 1) {
    return DimAttr::get(&context, extent, axes, unit, parts, repeat);
  }
  ShardedTensorType tensor(ArrayRef<DimAttr> dims, Type element, Reduction reduction = Reduction::none,
                           ArrayRef<AxisAttr> partial = {}, ArrayRef<AxisAttr> flat = {},
                           base::RoutedAttr routed = {}) {
    return ShardedTensorType::get(&context, dims, element, reduction, partial, flat, routed);
  }
};

TEST_F(SchedSyntax, TextMeansTheAttribute) {
  AxisAttr tp = axis(1, 1, 3);
  std::pair<const char *, Attribute> cases[] = {
      {"#sched.axis<1:(1)3>", tp},
      {"#sched.axis<0:(2)1>", axis(0, 2, 1)},
      {"#sched.dim<0>", dim(0)},
      {"#sched.dim<576>", dim(576)},
      {"#sched.dim<576 over {0:(1)2, 1:(1)3}>", dim(576, {axis(0, 1, 2), tp})},
      {"#sched.dim<576 over {1:(1)3} unit 64>", dim(576, {tp}, 64)},
      {"#sched.dim<80 over {1:(1)3} parts [64, 8, 8]>", dim(80, {tp}, 1, {64, 8, 8})},
      {"#sched.dim<80 over {1:(1)3} parts [64 unit 16, 8 unit 8 repeat 4, 8 repeat 2]>",
       dim(80, {tp}, 1, {{64, 16}, {8, 8, 4}, {8, 1, 2}})},
      {"#sched.dim<128 over {1:(1)3} unit 64 repeat 3>", dim(128, {tp}, 64, {}, 3)},
      {"#base.mesh_axis<\"tp\" = 3>", MeshAxisAttr::get(&context, "tp", 3)},
      {"#base.operand<2>", OperandRefAttr::get(&context, 2)},
      {"#base.local<-1, operand 2, dim 0>", LocalIntAttr::get(&context, -1, false, 2, 0, 0, 0)},
      {"#base.local<0, result 0, dim 1, extent 2>", LocalIntAttr::get(&context, 0, true, 0, 1, 0, 2)},
      {"#base.local<1, operand 0, dim 3, offset -1>", LocalIntAttr::get(&context, 1, false, 0, 3, -1, 0)},
      {"#base.local<7, operand 1, dim 0, offset 2, extent -3, microbatch 4>",
       LocalIntAttr::get(&context, 7, false, 1, 0, 2, -3, 4)},
      {"#base.local<0, result 0, dim 0, microbatch -1>", LocalIntAttr::get(&context, 0, true, 0, 0, 0, 0, -1)},
      {"#base.local<1, operand 0, dim 3, offset -1, extent 4>", LocalIntAttr::get(&context, 1, false, 0, 3, -1, 4)},
      {"#sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4>",
       MemoryAttr::get(&context, 1, 2, 3, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
      {"#sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, evaluation = 7, least_evaluation "
       "= 6>",
       MemoryAttr::get(&context, 1, 2, 3, 5, 4, 0, 0, 0, 0, 0, 7, 6, 0, 0)},
      {"#sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, balanced = 4, worst = 9>",
       MemoryAttr::get(&context, 1, 2, 3, 5, 4, 0, 0, 0, 0, 0, 0, 0, 4, 9)},
  };
  expectTexts<Attribute>(cases);
}

TEST_F(SchedSyntax, TextMeansTheType) {
  Type f32 = Float32Type::get(&context), boolean = IntegerType::get(&context, 1);
  AxisAttr dp = axis(0, 1, 2), tp = axis(1, 1, 3);
  std::pair<const char *, Type> cases[] = {
      {"!sched.tensor<[], f32>", tensor({}, f32)},
      {"!sched.tensor<[4 over {0:(1)2}, 96], i1>", tensor({dim(4, {dp}), dim(96)}, boolean)},
      {"!sched.tensor<[4, 576], f32, partial = sum {0:(1)2, 1:(1)3}>",
       tensor({dim(4), dim(576)}, f32, Reduction::sum, {dp, tp})},
      {"!sched.tensor<[4 over {1:(1)3} unit 4], f32, partial = max {0:(1)2}>",
       tensor({dim(4, {tp}, 4)}, f32, Reduction::max, {dp})},
      {"!sched.tensor<[4 over {1:(1)3}], f32, flat = {0:(1)2}>",
       tensor({dim(4, {tp})}, f32, Reduction::none, {}, {dp})},
      {"!sched.tensor<[4], f32, partial = sum {1:(1)3}, flat = {0:(1)2}>",
       tensor({dim(4)}, f32, Reduction::sum, {tp}, {dp})},
      {"!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 3>>",
       tensor({dim(8), dim(4, {dp}), dim(6)}, f32, Reduction::none, {}, {},
              base::RoutedAttr::get(&context, base::RoutedKind::rows, 2, 3, FloatAttr()))},
      {"!sched.tensor<[8, 4], f32, routed = #base.routed<rows, dims = 2, slots = 3, reserve = 1.500000e+00 : f64>>",
       tensor({dim(8), dim(4)}, f32, Reduction::none, {}, {},
              base::RoutedAttr::get(&context, base::RoutedKind::rows, 2, 3,
                                    FloatAttr::get(Float64Type::get(&context), 1.5)))},
      {"!sched.token<!sched.tensor<[4], f32>>", TokenType::get(&context, tensor({dim(4)}, f32))},
      {"!sched.packed<<[4], f32>, <[], f32>>", PackedType::get(&context, {tensor({dim(4)}, f32), tensor({}, f32)})},
  };
  expectTexts<Type>(cases);
}

TEST_F(SchedSyntax, WrongAttributesAreNamed) {
  std::pair<const char *, const char *> cases[] = {
      // An axis
      {"#sched.axis[1:(1)3]", "expected '<'"},
      {"#sched.axis<\"tp\">", "expected integer value"},
      {"#sched.axis<1(1)3>", "expected ':'"},
      {"#sched.axis<1:1>", "expected '('"},
      {"#sched.axis<1:()3>", "expected integer value"},
      {"#sched.axis<1:(1, 2)3>", "expected ')'"},
      {"#sched.axis<1:(1)>", "expected integer value"},
      {"#sched.axis<-1:(1)3>", "axis -1:(1)3 needs a position from 0 and positive sizes"},
      {"#sched.axis<1:(1)3, 2:(1)3>", "expected '>'"},
      // A dim
      {"#sched.dim[4]", "expected '<'"},
      {"#sched.dim<over {1:(1)3}>", "expected integer value"},
      {"#sched.dim<6 over 1:(1)3>", "expected '{'"},
      {"#sched.dim<6 over {tp}>", "expected integer value"},
      {"#sched.dim<6 over {1:(1)3>", "unbalanced '{' character in pretty dialect name"},
      {"#sched.dim<6 unit>", "expected integer value"},
      {"#sched.dim<6 parts 6>", "expected '['"},
      {"#sched.dim<6 parts [2, x]>", "expected integer value"},
      {"#sched.dim<6 repeat>", "expected integer value"},
      {"#sched.dim<6 parts [6] unit 2>", "expected '>'"},
      {"#sched.dim<6 unit 4>", "dim of size 6 is not a multiple of its block size 4"},
      // A local integer
      {"#base.local[0]", "expected '<'"},
      {"#base.local<result 0, dim 0>", "expected integer value"},
      {"#base.local<0>", "expected ','"},
      {"#base.local<0, value 0, dim 0>", "expected 'operand'"},
      {"#base.local<0, operand, dim 0>", "expected integer value"},
      {"#base.local<0, operand 0>", "expected ','"},
      {"#base.local<0, operand 0, 1>", "expected 'dim'"},
      {"#base.local<0, operand 0, dim>", "expected integer value"},
      {"#base.local<0, operand 0, dim 0, offset>", "expected integer value"},
      {"#base.local<0, operand 0, dim 0, extent>", "expected integer value"},
      {"#base.local<0, operand 0, dim 0, size 1>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
      {"#base.local<0, operand 0, dim 0, offset 1, offset 2>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
      {"#base.local<0, operand 0, dim 0, extent 1, offset 2>",
       "expected 'offset', 'extent' or 'microbatch', once each and in this order"},
  };
  expectFaults<Attribute>(cases);
}

TEST_F(SchedSyntax, WrongTypesAreNamed) {
  std::pair<const char *, const char *> cases[] = {
      {"!sched.tensor[4]", "expected '<'"},
      {"!sched.tensor<4, f32>", "expected '['"},
      {"!sched.tensor<[x], f32>", "expected integer value"},
      {"!sched.tensor<[4]>", "expected ','"},
      {"!sched.tensor<[4], 4>", "expected non-function type"},
      {"!sched.tensor<[4], f32, max>", "expected 'routed'"},
      {"!sched.tensor<[4], f32, partial sum {0:(1)2}>", "expected '='"},
      {"!sched.tensor<[4], f32, partial = {0:(1)2}>", "expected valid keyword"},
      {"!sched.tensor<[4], f32, partial = sum 0:(1)2>", "expected '{'"},
      {"!sched.tensor<[4], f32, partial = mean {0:(1)2}>", "unknown reduction 'mean', expected sum, max or min"},
      {"!sched.tensor<[4], f32, partial = sum {0:(1)2}, 1>", "expected 'routed'"},
      {"!sched.tensor<[4], f32, flat {0:(1)2}>", "expected '='"},
      {"!sched.tensor<[4], f32, flat = 0:(1)2>", "expected '{'"},
      {"!sched.tensor<[4], f32, flat = {0:(1)2}, partial = sum {1:(1)2}>", "expected 'routed'"},
      {"!sched.tensor<[4 over {0:(1)2}], f32, flat = {0:(1)2}>", "axis 0 is used twice in one layout"},
      {"!sched.tensor<[4], f32, partial = sum {}>", "a partial tensor must name both a reduction and axes"},
      {"!sched.tensor<[4 over {0:(1)2}], f32, partial = sum {0:(1)2}>", "axis 0 is used twice in one layout"},
  };
  expectFaults<Type>(cases);
}

} // namespace
} // namespace meshplan
