//===- adapters_test.cpp - LoRA adapters as PEFT names them ---------------===//

#include "runtime/checkpoint/adapters.h"
#include "test/unit/checkpoint/small_training.h"

using namespace meshplan;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(AdapterNamesTest, AreThoseOfLora) {
  EXPECT_TRUE(isAdapter("model.q_proj.lora_A.default.weight"));
  EXPECT_TRUE(isAdapter("embed_tokens.lora_embedding_B.mine"));
  EXPECT_TRUE(isAdapter("lm_head.modules_to_save.default.weight"));
  EXPECT_FALSE(isAdapter("model.q_proj.base_layer.weight"));
  EXPECT_FALSE(isAdapter("lm_head.original_module.weight"));
  EXPECT_FALSE(isAdapter("model.flora_A.weight"));
}

TEST(AdapterNamesTest, AreSavedWithoutTheAdaptersName) {
  EXPECT_EQ(adapterName("model.q_proj.lora_A.default.weight"), "base_model.model.model.q_proj.lora_A.weight");
  EXPECT_EQ(adapterName("model.q_proj.lora_B.mine.bias"), "base_model.model.model.q_proj.lora_B.bias");
  EXPECT_EQ(adapterName("embed.lora_embedding_A.default"), "base_model.model.embed.lora_embedding_A");
  EXPECT_EQ(adapterName("q.lora_magnitude_vector.default.weight"), "base_model.model.q.lora_magnitude_vector");
  EXPECT_EQ(adapterName("lm_head.modules_to_save.mine.weight"), "base_model.model.lm_head.weight");
  EXPECT_EQ(adapterName("embed.base_layer.weight"), "base_model.model.embed.base_layer.weight");
}

TEST(AdapterNamesTest, OfAModelThatIsWrappedSayItOnce) {
  EXPECT_EQ(adapterName("base_model.model.q.lora_A.default.weight"), "base_model.model.q.lora_A.weight");
  EXPECT_EQ(adapterName("inner.base_model.model.q.lora_A.default.weight"), "base_model.model.q.lora_A.weight");
  EXPECT_EQ(adapterName("my_base_model.model.q.lora_A.default.weight"),
            "base_model.model.my_base_model.model.q.lora_A.weight");
}

TEST(AdapterNamesTest, OfOtherAdaptersMayHaveNone) {
  EXPECT_EQ(adapterName("q.lora_A.weight"), "base_model.model.q.lora_A.weight");
  EXPECT_EQ(adapterName("q.lora_B.bias"), "base_model.model.q.lora_B.bias");
  EXPECT_EQ(adapterName("q.lora_A"), "base_model.model.q.lora_A");
}

PlainNames plainNamesOf(std::vector<std::string> parameters) { return plainNames(parameters); }

TEST(AdapterNamesTest, TheModelWithoutAdaptersHasOthers) {
  EXPECT_THAT(plainNamesOf({"m.q.base_layer.weight", "m.q.lora_A.default.weight", "m.k.weight"}),
              ElementsAre(Pair("m.q.base_layer.weight", "m.q.weight")));
  EXPECT_THAT(plainNamesOf({"head.original_module.weight", "head.modules_to_save.default.weight"}),
              ElementsAre(Pair("head.original_module.weight", "head.weight")));
  EXPECT_THAT(plainNamesOf({"base_model.model.q.base_layer.weight", "base_model.model.q.lora_A.default.weight",
                            "base_model.model.k.weight"}),
              UnorderedElementsAre(Pair("base_model.model.q.base_layer.weight", "q.weight"),
                                   Pair("base_model.model.q.lora_A.default.weight", "q.lora_A.default.weight"),
                                   Pair("base_model.model.k.weight", "k.weight")));
}

TEST(AdapterNamesTest, OtherModelsKeepTheirNames) {
  EXPECT_THAT(plainNamesOf({"proj.base_layer.weight", "proj.bias", "base_model.model.k.weight"}), ElementsAre());
  EXPECT_THAT(plainNamesOf({"proj.base_layer.weight", "q.lora_A.default.weight"}), ElementsAre())
      << "nothing adapts it";
  EXPECT_THAT(plainNamesOf({"q.base_layer.weight", "q.weight", "q.lora_A.default.weight"}), ElementsAre())
      << "the name is taken";
}

/// A model with an adapter and the frozen weight that it adapts, of seven elements each.
class AdapterFeedTest : public testing::Test {
protected:
  AdapterFeedTest() : artifact(scheduleOf({.name = adapter, .hasFrozen = true, .baseName = base})) {
    write("base.safetensors", {{"q.weight", 7, 3}});
    write("adapter_model.safetensors", {{saved, 7, 5}});
  }

  struct Content {
    std::string name;
    int64_t extent;
    float value;
  };

  void write(const std::string &file, const std::vector<Content> &contents) {
    std::vector<TensorSpec> specs;
    for (const Content &each : contents)
      specs.push_back({each.name, DType::f32, {each.extent}});
    auto writer = SafetensorsWriter::create(folder / file, specs);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (const Content &each : contents) {
      std::vector<float> elements(each.extent, each.value);
      std::vector<int64_t> shape{each.extent};
      ASSERT_TRUE(writer->write(each.name, wholeTensor(shape), std::as_bytes(std::span(elements))).ok());
    }
    ASSERT_TRUE(writer->commit().ok());
  }

  Expected<std::unique_ptr<AdapterFeed>> open(const std::string &weights, const std::string &adapters) {
    auto source = TensorSource::open(folder / weights);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return AdapterFeed::open(*std::move(source), adapters, *artifact.schedule().programs()->Get(0));
  }

  std::string errorOf(const std::vector<Content> &contents) {
    write("others.safetensors", contents);
    return open("base.safetensors", folder / "others.safetensors").status().message();
  }

  static Expected<float> first(const AdapterFeed &feed, const std::string &name) {
    std::vector<float> out(7);
    std::vector<int64_t> shape{7};
    MESHPLAN_RETURN_IF_ERROR(
        feed.read({{name}, shape, wholeTensor(shape), DType::f32}, std::as_writable_bytes(std::span(out))));
    return out.front();
  }

  TemporaryDirectory folder;
  const std::string adapter = "q.lora_A.default.weight", base = "q.base_layer.weight";
  const std::string saved = "base_model.model.q.lora_A.weight";
  Artifact artifact;
};

TEST_F(AdapterFeedTest, ReadsEachFromItsFile) {
  for (const std::string &path : {folder / "adapter_model.safetensors", folder / "."}) {
    auto feed = open("base.safetensors", path);
    ASSERT_TRUE(feed.ok()) << feed.status().message();
    EXPECT_EQ(*first(**feed, adapter), 5) << path;
    EXPECT_EQ(*first(**feed, base), 3) << path;
    EXPECT_FALSE((*feed)->replacesWeights());
    EXPECT_EQ((*feed)->filePaths().size(), 2u);
    EXPECT_EQ((*feed)->path(), folder / "base.safetensors");
  }
}

TEST_F(AdapterFeedTest, TakesWhatPeftSavesOfTheModelBesides) {
  write("others.safetensors", {{saved, 7, 5}, {"base_model.model.q.base_layer.weight", 7, 9}});
  auto feed = open("base.safetensors", folder / "others.safetensors");
  ASSERT_TRUE(feed.ok()) << feed.status().message();
  EXPECT_EQ(*first(**feed, base), 9);
  EXPECT_TRUE((*feed)->replacesWeights());
}

TEST_F(AdapterFeedTest, FindsATiedParameterUnderAnyOfItsNames) {
  artifact = scheduleOf({.name = adapter, .hasFrozen = true, .baseName = "head.weight", .otherBaseName = base});
  write("others.safetensors", {{saved, 7, 5}, {"base_model.model.q.base_layer.weight", 7, 9}});
  auto feed = open("base.safetensors", folder / "others.safetensors");
  ASSERT_TRUE(feed.ok()) << feed.status().message();
  EXPECT_EQ(*first(**feed, "head.weight"), 9);
}

TEST_F(AdapterFeedTest, WeightsMayHaveAll) {
  write("whole.safetensors", {{adapter, 7, 1}, {base, 7, 2}});
  auto feed = open("whole.safetensors", "");
  ASSERT_TRUE(feed.ok()) << feed.status().message();
  EXPECT_EQ(*first(**feed, adapter), 1);
  EXPECT_EQ(*first(**feed, base), 2);
}

TEST_F(AdapterFeedTest, SaysHowAdaptersAloneAreRead) {
  auto feed = open("base.safetensors", "");
  ASSERT_TRUE(feed.ok()) << feed.status().message();
  EXPECT_THAT(first(**feed, adapter).status().message(),
              HasSubstr("help: adapters that are saved alone are read with --adapters"));
}

TEST_F(AdapterFeedTest, RefusesAdaptersOfAnotherModel) {
  const std::string file = "--adapters: " + (folder / "others.safetensors");
  EXPECT_EQ(errorOf({{saved, 8, 5}}), file + ": tensor '" + saved +
                                          "' has shape [8], [7] required; help: compile for the shape in the file, or "
                                          "read another file");
  EXPECT_THAT(errorOf({{"base_model.model.k.lora_A.weight", 7, 5}}), HasSubstr(file + ": no tensor '" + saved + "'"));
  EXPECT_EQ(errorOf({{saved, 7, 5}, {"base_model.model.k.lora_A.weight", 7, 5}}),
            file + ": the model has no parameter for 'base_model.model.k.lora_A.weight'; help: export the model with "
                   "the adapters that adapter_config.json describes");
  EXPECT_THAT(open("base.safetensors", folder / "nowhere").status().message(), HasSubstr("--adapters: "));
}

TEST_F(AdapterFeedTest, RefusesTwoAdaptersOfOneName) {
  artifact = scheduleOf({.name = adapter, .hasFrozen = true, .baseName = "q.lora_A.other.weight"});
  EXPECT_EQ(errorOf({{saved, 7, 5}}), "--adapters: " + (folder / "others.safetensors") +
                                          ": the model has several adapters that would read '" + saved +
                                          "'; help: export it with one adapter");
}

TEST_F(AdapterFeedTest, WhatTheModelLacksIsAWarning) {
  auto warningOf = [&](const std::vector<Content> &contents) {
    write("weights.safetensors", contents);
    auto feed = open("weights.safetensors", folder / "adapter_model.safetensors");
    EXPECT_TRUE(feed.ok()) << feed.status().message();
    return feed.ok() ? (*feed)->warning() : "";
  };
  const std::string file = folder / "weights.safetensors";
  EXPECT_EQ(warningOf({{"q.weight", 7, 3}}), "") << "a name of the model without adapters";
  EXPECT_EQ(warningOf({{base, 7, 3}, {adapter, 7, 3}}), "") << "names of the model with them";
  EXPECT_EQ(warningOf({{"q.weight", 7, 3}, {"k.weight", 7, 3}}),
            file + ": 1 tensor that the model does not have is skipped: 'k.weight'");
  EXPECT_EQ(warningOf({{"q.weight", 7, 3}, {"h.1", 1, 0}, {"h.2", 1, 0}, {"h.3", 1, 0}, {"h.4", 1, 0}, {"h.5", 1, 0}}),
            file + ": 5 tensors that the model does not have are skipped: 'h.1', 'h.2', 'h.3', 'h.4' and 1 more");
}

TEST(WeightsTest, EachNameOfATiedParameterIsKnown) {
  TemporaryDirectory folder;
  Artifact artifact = scheduleOf({.hasFrozen = true, .otherBaseName = "head"});
  for (const char *name : {"base", "head"}) {
    std::vector<TensorSpec> specs{{name, DType::f32, {7}}};
    auto writer = SafetensorsWriter::create(folder / "w.safetensors", specs);
    std::vector<float> elements(7);
    ASSERT_TRUE(writer->write(name, wholeTensor(specs[0].shape), std::as_bytes(std::span(elements))).ok());
    ASSERT_TRUE(writer->commit().ok());
    auto feed =
        AdapterFeed::open(*TensorSource::open(folder / "w.safetensors"), "", *artifact.schedule().programs()->Get(0));
    ASSERT_TRUE(feed.ok());
    EXPECT_EQ((*feed)->warning(), "");
  }
}

} // namespace
