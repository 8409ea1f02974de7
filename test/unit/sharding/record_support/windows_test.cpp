//===- windows_test.cpp - windows against the elements that they read -----===//

#include "compiler/sharding/record_support/windows.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/sharding/parsed_call.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace mlir;
using testing::Optional;

namespace {

class Windows : public CallTest {
protected:
  /// The rule of a window over `input` elements with `places` results.
  FactorRule tie(int64_t input, int64_t places, Window window) {
    Type element = Float32Type::get(&context);
    call.args = cast<DictionaryAttr>(parseAttribute("{self = #base.operand<0>}", &context));
    call.operands = {RankedTensorType::get({input}, element)};
    call.results = {RankedTensorType::get({places}, element)};
    RuleBuilder builder(call);
    tieWindows(builder, builder.operand("self")[0], builder.result()[0], window);
    return builder.finish();
  }

  CallView call;
};

/// Number of results of a window, as PyTorch counts them.
int64_t countPlaces(int64_t input, Window window) {
  int64_t reach = (window.size - 1) * window.dilation + 1;
  return (input + 2 * window.padding - reach) / window.stride + 1;
}

/// True if each position p reads only elements of block p, when the input is split into as many blocks as positions.
bool readsOwnBlock(int64_t input, int64_t places, Window window) {
  if (input % places != 0)
    return false;
  int64_t block = input / places;
  for (int64_t place = 0; place < places; ++place)
    for (int64_t item = 0; item < window.size; ++item) {
      int64_t at = place * window.stride - window.padding + item * window.dilation;
      if (at < 0 || at >= input || at / block != place)
        return false;
    }
  return true;
}

TEST_F(Windows, AreDividedExactlyWhereEachReadsItsOwnBlock) {
  for (int64_t input = 1; input <= 12; ++input)
    for (int64_t size = 1; size <= 4; ++size)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t padding = 0; padding <= 1; ++padding)
          for (int64_t dilation = 1; dilation <= 2; ++dilation) {
            Window window = {size, stride, padding, dilation};
            if (input + 2 * padding < (size - 1) * dilation + 1)
              continue;
            int64_t places = countPlaces(input, window);
            FactorRule rule = tie(input, places, window);
            ASSERT_EQ(rule.findFault(call.operands, call.results).value_or(""), "");
            bool divides = llvm::any_of(rule.factors, [](Factor factor) { return factor.kind != FactorKind::whole; });
            // A window that leaves elements unread at the end of the dim could be sharded, too, but is not.
            bool regular = input == places * stride;
            EXPECT_EQ(divides, places > 1 && regular && readsOwnBlock(input, places, window))
                << input << " elements, window " << size << ", stride " << stride << ", padding " << padding
                << ", dilation " << dilation;
          }
}

TEST_F(Windows, APlaceIsTheMajorFactorOfItsElements) {
  EXPECT_EQ(describe(tie(12, 3, {4, 4, 0, 1})), "[ab] -> [a]; a=3 b=4:whole");
  EXPECT_EQ(describe(tie(12, 3, {2, 4, 0, 2})), "[ab] -> [a]; a=3 b=4:whole");
  EXPECT_EQ(describe(tie(12, 12, {})), "[a] -> [a]; a=12");
}

TEST_F(Windows, OtherwiseBothDimsAreWhole) {
  EXPECT_EQ(describe(tie(12, 10, {3, 1, 0, 1})), "[a] -> [b]; a=12:whole b=10:whole");
  EXPECT_EQ(describe(tie(4, 1, {4, 4, 0, 1})), "[a] -> [1]; a=4:whole");
  EXPECT_EQ(describe(tie(12, 3, {1, 0, 0, 1})), "[a] -> [b]; a=12:whole b=3:whole") << "a stride of 0 is not a stride";
}

TEST_F(Windows, DimsThatTheCallLacksAreLeftAlone) {
  tie(12, 12, {});
  RuleBuilder builder(call);
  tieWindows(builder, {}, builder.result()[0], {});
  tieWindows(builder, builder.operand("self")[0], builder.result()[1], {});
  EXPECT_EQ(describe(builder.finish()), "[a] -> [b]; a=12:whole b=12:whole");
}

TEST_F(Windows, AnArgumentIsOneNumberForAllOrOneForEach) {
  CallView call = parse("x",
                        "{one = 3, list = [4, 5], single = [6], none = [], three = [1, 2, 3], flag = true, "
                        "text = \"same\", local = [#base.local<0, result 0, dim 0>, 1]}",
                        "() -> ()");
  auto argument = [&](StringRef name, unsigned index) { return windowArgument(call, name, index, 2, 7); };
  EXPECT_THAT(argument("one", 1), Optional(3));
  EXPECT_THAT(argument("list", 0), Optional(4));
  EXPECT_THAT(argument("list", 1), Optional(5));
  EXPECT_THAT(argument("single", 1), Optional(6));
  EXPECT_THAT(argument("none", 0), Optional(7)) << "kernel_size is the default of stride";
  EXPECT_THAT(argument("absent", 0), Optional(7));
  for (StringRef name : {"three", "flag", "text", "local"})
    EXPECT_EQ(argument(name, 0), std::nullopt) << name.str();
}

} // namespace
