#include "runtime/exec/outputs.h"

#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

class OutputsTest : public testing::Test {
protected:
  /// The rank's shard of a whole tensor.
  static at::Tensor partOf(const RankView &view, int value, const at::Tensor &whole) {
    std::vector<int64_t> elements = elementsIn(view.ranges(value), whole.sizes().vec());
    return whole.flatten().index_select(0, at::tensor(elements, at::kLong)).reshape(view.shape(value));
  }

  /// One rank after the other writes its shards; returns the content of the file.
  Tensors write(const LoadedSchedule &loaded, const std::function<std::vector<Tensor>(const RankView &)> &valuesOf) {
    auto writer = SafetensorsWriter::create(folder / "y.safetensors", outputSpecs(loaded.program()));
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    for (int64_t rank = loaded.worldSize(); rank-- > 0;) {
      Status status = writeOutputParts(loaded.view(rank), valuesOf(loaded.view(rank)), *writer);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_TRUE(writer->commit().ok());
    return readTensors(folder / "y.safetensors");
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 3}}};
  TemporaryDirectory folder;
};

} // namespace

TEST_F(OutputsTest, SpecsAreWholeTensors) {
  int x = builder.input("x", {{5, {"dp"}}, {7, {"tp"}}}, DType::bf16), scalar = builder.input("s", {}, DType::i64);
  builder.output("logits", x);
  builder.output("loss", scalar);
  builder.output("again", x);
  LoadedSchedule loaded(builder);
  std::vector<TensorSpec> specs = outputSpecs(loaded.program());
  ASSERT_EQ(specs.size(), 3u);
  EXPECT_EQ(specs[0].name, "logits");
  EXPECT_EQ(specs[0].dtype, DType::bf16);
  EXPECT_THAT(specs[0].shape, testing::ElementsAre(5, 7));
  EXPECT_EQ(specs[1].dtype, DType::i64);
  EXPECT_TRUE(specs[1].shape.empty());
  EXPECT_EQ(specs[2].name, "again");
}

TEST_F(OutputsTest, AProgramWithoutOutputs) {
  builder.input("x", {{2}});
  LoadedSchedule loaded(builder);
  EXPECT_TRUE(outputSpecs(loaded.program()).empty());
  EXPECT_TRUE(write(loaded, [](const RankView &) { return std::vector<Tensor>(1); }).empty());
}

TEST_F(OutputsTest, PartsMakeTheWhole) {
  const std::vector<TestDim> layouts[] = {{{5, {"dp"}}, {12, {"tp"}}},
                                          {{5, {"tp", "dp"}}, {12}},
                                          {{5}, {12, {"tp"}, 2, {8, 4}}},
                                          {{5, {"tp"}}, {12, {"dp"}, 3}}};
  std::vector<int> values;
  for (const std::vector<TestDim> &layout : layouts) {
    values.push_back(builder.input("x" + std::to_string(values.size()), layout));
    builder.output("y" + std::to_string(values.back()), values.back());
  }
  LoadedSchedule loaded(builder);
  at::Tensor whole = at::randn({5, 12}, at::kDouble);
  Tensors written = write(loaded, [&](const RankView &view) {
    std::vector<Tensor> parts;
    for (int value : values)
      // Some shards are not row-major.
      parts.push_back(
          wrap(view.rank() % 2 == 0 ? partOf(view, value, whole) : partOf(view, value, whole).t().contiguous().t()));
    return parts;
  });
  ASSERT_EQ(written.size(), values.size());
  for (const auto &[name, tensor] : written)
    EXPECT_TRUE(at::equal(tensor, whole)) << name;
}

TEST_F(OutputsTest, OfReplicasTheFirstSpeaks) {
  int x = builder.input("x", {{6, {"tp"}}});
  builder.output("y", x);
  LoadedSchedule loaded(builder);
  at::Tensor whole = at::randn({6}, at::kDouble);
  // Ranks 3 to 5 hold replicas with other values, so the test notices if they write.
  Tensors written = write(loaded, [&](const RankView &view) {
    at::Tensor part = partOf(view, x, whole);
    return std::vector<Tensor>{wrap(view.rank() < 3 ? part : at::full_like(part, -7))};
  });
  EXPECT_TRUE(at::equal(written["y"], whole));
}

TEST_F(OutputsTest, AFileWithoutTheTensor) {
  int x = builder.input("x", {{6}});
  builder.output("y", x);
  LoadedSchedule loaded(builder);
  auto writer = SafetensorsWriter::create(folder / "y.safetensors", {});
  std::vector<Tensor> values = {wrap(at::zeros({6}, at::kDouble))};
  EXPECT_EQ(writeOutputParts(loaded.view(0), values, *writer).message(), "tensor 'y' is not in the list of this file");
  EXPECT_TRUE(writeOutputParts(loaded.view(1), values, *writer).ok()) << "it has nothing to write";
}
