//===- megatron_samples_test.cpp - samples as Megatron cuts them ----------===//

#include "runtime/data/tensor_source.h"
#include "runtime/dataset/token_samples.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

/// The files of make_megatron_dataset.py.
class MegatronSamples : public testing::TestWithParam<const char *> {
protected:
  static std::string fixture(const std::string &name) { return std::string(FIXTURES) + "/" + name; }

  static std::vector<int64_t> expected(const TensorSource &file, const std::string &name) {
    const StoredTensor *tensor = file.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<int64_t> values(elementCount(tensor->shape));
    Status status =
        file.read(*tensor, wholeTensor(tensor->shape), DType::i64, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
};

TEST_P(MegatronSamples, AreThoseOfGptDataset) {
  constexpr int64_t length = 16;
  const std::string dtype = GetParam();
  std::vector<SampleField> fields = {{"tokens", DType::i64, {length}}, {"labels", DType::i64, {length}}};
  TokenOffsets offsets = {{"tokens", TokenOffset::same}, {"labels", TokenOffset::next}};
  Expected<SampleSourcePointer> source = openTokenSamples(*findTokenFiles(fixture(dtype)), fields, offsets);
  Expected<TensorSource> file = TensorSource::open(fixture("expected.safetensors"));
  ASSERT_TRUE(source.ok() && file.ok()) << source.status().message() << file.status().message();
  for (size_t field = 0; field < fields.size(); ++field) {
    std::vector<int64_t> all;
    for (int64_t sample = 0; sample < (*source)->samples(); ++sample)
      std::ranges::copy(readSample(**source, sample, field, length), std::back_inserter(all));
    EXPECT_GT(all.size(), 50u * length);
    EXPECT_EQ(all, expected(*file, dtype + "." + fields[field].name));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MegatronSamples, testing::Values("uint16", "int32"));

} // namespace
} // namespace meshplan
