#include "runtime/tensor/torch/literal.h"

#include "runtime/tensor/torch/dtype.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// The parameter of an ATen operator, which owns the result.
const c10::Argument &parameterOf(const char *target, const char *overload, const char *name) {
  auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(target, overload);
  return handle.schema().arguments()[*handle.schema().argumentIndexWithName(name)];
}

const c10::Argument &integer() { return parameterOf("aten::softmax", "int", "dim"); }
const c10::Argument &symbolicInteger() { return parameterOf("aten::select", "int", "index"); }
const c10::Argument &optionalInteger() { return parameterOf("aten::repeat_interleave", "Tensor", "output_size"); }
const c10::Argument &real() { return parameterOf("aten::dropout", "", "p"); }
const c10::Argument &optionalReal() { return parameterOf("aten::scaled_dot_product_attention", "", "scale"); }
const c10::Argument &boolean() { return parameterOf("aten::dropout", "", "train"); }
const c10::Argument &scalarParameter() { return parameterOf("aten::add", "Tensor", "alpha"); }
const c10::Argument &tensor() { return parameterOf("aten::add", "Tensor", "other"); }
const c10::Argument &dtype() { return parameterOf("aten::_to_copy", "", "dtype"); }
const c10::Argument &layout() { return parameterOf("aten::_to_copy", "", "layout"); }
const c10::Argument &device() { return parameterOf("aten::_to_copy", "", "device"); }
const c10::Argument &memoryFormat() { return parameterOf("aten::_to_copy", "", "memory_format"); }
const c10::Argument &text() { return parameterOf("aten::gelu", "", "approximate"); }
const c10::Argument &integersParameter() { return parameterOf("aten::view", "", "size"); }
const c10::Argument &twoIntegers() { return parameterOf("aten::conv2d", "", "padding"); }
const c10::Argument &reals() { return parameterOf("aten::upsample_nearest2d", "vec", "scale_factors"); }
const c10::Argument &threeBools() { return parameterOf("aten::convolution_backward", "", "output_mask"); }

c10::IValue mustConvert(const ArgumentContent &content, const c10::Argument &parameter) {
  auto value = literalValue(content, parameter);
  EXPECT_TRUE(value) << contentName(content) << " for " << parameter;
  return value.value_or(c10::IValue());
}

bool fits(const ArgumentContent &content, const c10::Argument &parameter) {
  return literalValue(content, parameter).has_value();
}

std::string wordOf(const char *text) { return text; }

} // namespace

TEST(LiteralTest, Integers) {
  EXPECT_EQ(mustConvert(int64_t(-3), integer()).toInt(), -3);
  EXPECT_EQ(mustConvert(int64_t(7), symbolicInteger()).toInt(), 7);
  EXPECT_EQ(mustConvert(int64_t(7), optionalInteger()).toInt(), 7);
  for (const ArgumentContent &wrong :
       std::vector<ArgumentContent>{1.0, true, wordOf("1"), std::vector<int64_t>{1}, DType::i64})
    EXPECT_FALSE(fits(wrong, integer())) << contentName(wrong);
}

TEST(LiteralTest, Reals) {
  EXPECT_EQ(mustConvert(0.1, real()).toDouble(), 0.1);
  EXPECT_EQ(mustConvert(int64_t(1), real()).toDouble(), 1.0) << "1 is a number too";
  EXPECT_EQ(mustConvert(0.25, optionalReal()).toDouble(), 0.25);
  EXPECT_FALSE(fits(true, real()));
  EXPECT_FALSE(fits(wordOf("0.1"), real()));
}

TEST(LiteralTest, Bools) {
  EXPECT_TRUE(mustConvert(true, boolean()).toBool());
  EXPECT_FALSE(mustConvert(false, boolean()).toBool());
  EXPECT_FALSE(fits(int64_t(1), boolean()));
  EXPECT_FALSE(fits(1.0, boolean()));
}

TEST(LiteralTest, ScalarsKeepTheirKind) {
  EXPECT_TRUE(mustConvert(int64_t(2), scalarParameter()).toScalar().isIntegral(false));
  EXPECT_TRUE(mustConvert(2.0, scalarParameter()).toScalar().isFloatingPoint());
  EXPECT_TRUE(mustConvert(true, scalarParameter()).toScalar().isBoolean());
  EXPECT_EQ(mustConvert(INT64_MAX, scalarParameter()).toScalar().toLong(), INT64_MAX);
}

TEST(LiteralTest, ANumberForATensorIsWrapped) {
  for (const ArgumentContent &number : std::vector<ArgumentContent>{int64_t(3), 0.5, true}) {
    at::Tensor wrapped = mustConvert(number, tensor()).toTensor();
    EXPECT_EQ(wrapped.dim(), 0);
    EXPECT_TRUE(wrapped.unsafeGetTensorImpl()->is_wrapped_number()) << contentName(number);
  }
  EXPECT_EQ(mustConvert(int64_t(3), tensor()).toTensor().scalar_type(), at::kLong);
  EXPECT_EQ(mustConvert(0.5, tensor()).toTensor().item<double>(), 0.5);
}

TEST(LiteralTest, NoneForWhatIsOptional) {
  for (const c10::Argument *parameter : {&optionalInteger(), &optionalReal(), &dtype(), &memoryFormat(), &reals()})
    EXPECT_TRUE(mustConvert(std::monostate(), *parameter).isNone()) << *parameter;
  for (const c10::Argument *parameter : {&integer(), &real(), &boolean(), &tensor(), &text(), &integersParameter()})
    EXPECT_FALSE(fits(std::monostate(), *parameter)) << *parameter;
}

TEST(LiteralTest, DTypes) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    DType type = static_cast<DType>(i);
    EXPECT_EQ(mustConvert(type, dtype()).toScalarType(), scalarTypeOf(type));
  }
  EXPECT_FALSE(fits(int64_t(6), dtype())) << "the number of a dtype is none";
  EXPECT_FALSE(fits(wordOf("float"), dtype()));
  EXPECT_FALSE(fits(DType::f32, integer()));
  EXPECT_FALSE(fits(DType::f32, text()));
}

TEST(LiteralTest, Strings) {
  EXPECT_EQ(mustConvert(wordOf("tanh"), text()).toStringRef(), "tanh");
  EXPECT_EQ(mustConvert(wordOf(""), text()).toStringRef(), "");
  EXPECT_FALSE(fits(int64_t(1), text()));
}

TEST(LiteralTest, MemoryFormatsAndLayouts) {
  const std::pair<const char *, c10::MemoryFormat> formats[] = {
      {"contiguous_format", c10::MemoryFormat::Contiguous},
      {"preserve_format", c10::MemoryFormat::Preserve},
      {"channels_last", c10::MemoryFormat::ChannelsLast},
      {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d}};
  for (const auto &[name, format] : formats)
    for (const std::string &spelling : {wordOf(name), "torch." + wordOf(name)})
      EXPECT_EQ(mustConvert(spelling, memoryFormat()).toMemoryFormat(), format) << spelling;
  EXPECT_EQ(mustConvert(wordOf("torch.strided"), layout()).toLayout(), c10::Layout::Strided);
  for (const char *wrong : {"", "torch.", "Contiguous", "torch.torch.strided", "sparse_coo"}) {
    EXPECT_FALSE(fits(wordOf(wrong), memoryFormat())) << wrong;
    EXPECT_FALSE(fits(wordOf(wrong), layout())) << wrong;
  }
}

TEST(LiteralTest, Devices) {
  EXPECT_EQ(mustConvert(wordOf("cpu"), device()).toDevice(), c10::Device(c10::kCPU));
  EXPECT_EQ(mustConvert(wordOf("cuda"), device()).toDevice().type(), c10::kCUDA);
  for (const char *wrong : {"", "meta", "cuda:0", "CPU", "torch.cpu"})
    EXPECT_FALSE(fits(wordOf(wrong), device())) << wrong;
}

TEST(LiteralTest, ListsOfIntegers) {
  EXPECT_THAT(mustConvert(std::vector<int64_t>{2, -1}, integersParameter()).toIntVector(), ElementsAre(2, -1));
  EXPECT_THAT(mustConvert(std::vector<int64_t>{}, integersParameter()).toIntVector(), testing::IsEmpty());
  EXPECT_THAT(mustConvert(int64_t(3), twoIntegers()).toIntVector(), ElementsAre(3, 3)) << "of fixed length: repeated";
  EXPECT_THAT(mustConvert(std::vector<int64_t>{1, 2}, twoIntegers()).toIntVector(), ElementsAre(1, 2));
  EXPECT_FALSE(fits(int64_t(3), integersParameter())) << "of no fixed length";
  EXPECT_FALSE(fits(std::vector<double>{1.0}, integersParameter()));
  EXPECT_FALSE(fits(std::vector<bool>{true}, integersParameter()));
}

TEST(LiteralTest, ListsOfNumbersAndBools) {
  EXPECT_THAT(mustConvert(std::vector<double>{2.5, 2}, reals()).toDoubleVector(), ElementsAre(2.5, 2));
  EXPECT_THAT(mustConvert(std::vector<int64_t>{2, 3}, reals()).toDoubleVector(), ElementsAre(2, 3));
  EXPECT_FALSE(fits(1.5, reals()));
  c10::List<bool> bools = mustConvert(std::vector<bool>{true, false, true}, threeBools()).toBoolList();
  EXPECT_THAT(std::vector<bool>(bools.begin(), bools.end()), ElementsAre(true, false, true));
  EXPECT_FALSE(fits(std::vector<int64_t>{1, 0, 1}, threeBools()));
}

TEST(LiteralTest, NamesOfContents) {
  const std::pair<ArgumentContent, const char *> names[] = {{std::monostate(), "None"},
                                                            {ValueArgument{0}, "a tensor"},
                                                            {ValueListArgument{}, "a list of tensors"},
                                                            {int64_t(1), "an integer"},
                                                            {std::vector<int64_t>(), "a list of integers"},
                                                            {1.0, "a number"},
                                                            {std::vector<double>(), "a list of numbers"},
                                                            {true, "a bool"},
                                                            {std::vector<bool>(), "a list of bools"},
                                                            {wordOf(""), "a string"},
                                                            {DType::f32, "a dtype"}};
  for (const auto &[content, name] : names)
    EXPECT_EQ(contentName(content), name);
}
