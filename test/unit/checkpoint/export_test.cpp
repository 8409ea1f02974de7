//===- export_test.cpp - a checkpoint as other libraries read it ----------===//

#include "runtime/checkpoint/export.h"
#include "test/unit/checkpoint/small_training.h"

#include <fstream>
#include <sstream>

using namespace meshplan;

namespace {

using testing::Each;
using testing::ElementsAre;

class ExportTest : public testing::Test {
protected:
  ExportTest() {
    std::filesystem::create_directory(folder / "model");
    writeText(folder / "model/config.json", "{\"model_type\": \"llama\", \"dtype\": \"float64\"}");
    writeText(folder / "model/tokenizer.json", "{}");
    writeWeights(folder / "model/model.safetensors", 7, 3);
  }

  void save(const SmallPlan &plan, const std::string &weights = "") {
    Status status = trainAndSave(plan, folder / "run", 9, {.weights = weights});
    ASSERT_TRUE(status.ok()) << status.message();
  }

  ExportReport exported(ExportOptions options) {
    options.checkpoint = folder / "run";
    options.output = folder / "out";
    auto report = exportCheckpoint(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report ? *report : ExportReport();
  }

  std::string errorOf(ExportOptions options) {
    options.checkpoint = folder / "run";
    if (options.output.empty())
      options.output = folder / "out";
    return exportCheckpoint(options).status().message();
  }

  std::string textOf(const std::string &name) {
    std::stringstream content;
    content << std::ifstream(folder / ("out/" + name)).rdbuf();
    return content.str();
  }

  TemporaryDirectory folder;
  const SmallPlan masters{.dtype = DType::bf16, .master = DType::f32};
  const std::string adapter = "model.q_proj.lora_A.default.weight";
};

TEST_F(ExportTest, WritesTheParametersInTheirOwnType) {
  save(masters, folder / "model");
  ExportReport report = exported({});
  EXPECT_THAT(report.files, ElementsAre("config.json", "tokenizer.json", "model.safetensors"));
  EXPECT_THAT(report.notes, ElementsAre());
  EXPECT_EQ(report.checkpoint, folder / "run/step-000009");
  EXPECT_EQ(report.step, 9);
  EXPECT_EQ(report.tensors, 1);
  double rounded = toFloat(toBFloat16(static_cast<float>(behindStep(9).parameter)));
  EXPECT_THAT(elementsOf(folder / "out/model.safetensors", "w"), Each(rounded));
  EXPECT_EQ(textOf("config.json"), "{\n  \"model_type\": \"llama\",\n  \"dtype\": \"bfloat16\"\n}\n");
  EXPECT_THAT(folder.names(), ElementsAre("model", "out", "run"));
}

TEST_F(ExportTest, WritesTheTensorsOfWeightFiles) {
  save({.inPieces = true}, folder / "model");
  EXPECT_EQ(exported({.fileBytes = 30}).tensors, 2);
  EXPECT_THAT(elementsOf(folder / "out", "first"), testing::AllOf(testing::SizeIs(3), Each(behindStep(9).parameter)));
  EXPECT_THAT(elementsOf(folder / "out", "second"), testing::AllOf(testing::SizeIs(4), Each(behindStep(9).parameter)));
  EXPECT_THAT(textOf("model.safetensors.index.json"), testing::HasSubstr("\"second\": \"model-00002-of-00002"));
}

TEST_F(ExportTest, TakesMastersWhereItConverts) {
  save(masters, folder / "model/model.safetensors");
  exported({.dtype = DType::f32});
  EXPECT_THAT(elementsOf(folder / "out/model.safetensors", "w"), Each(behindStep(9).parameter));
  EXPECT_EQ(textOf("config.json"), "{\n  \"model_type\": \"llama\",\n  \"dtype\": \"float32\"\n}\n");
}

TEST_F(ExportTest, DividesWhatIsLarge) {
  save({.hasFrozen = true}, folder / "model");
  ExportReport report = exported({.fileBytes = 60});
  EXPECT_THAT(report.files, ElementsAre("config.json", "tokenizer.json", "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors", "model.safetensors.index.json"));
  EXPECT_THAT(elementsOf(folder / "out", "w"), Each(behindStep(9).parameter));
  EXPECT_THAT(elementsOf(folder / "out", "base"), ElementsAre(3, 0, 0, 0, 0, 0, 0)) << "from the weights";
  EXPECT_EQ(textOf("model.safetensors.index.json"),
            "{\n  \"metadata\": {\n    \"total_size\": 84\n  },\n  \"weight_map\": {\n"
            "    \"w\": \"model-00001-of-00002.safetensors\",\n"
            "    \"base\": \"model-00002-of-00002.safetensors\"\n  }\n}\n");
}

TEST_F(ExportTest, SaysWhereAConfigurationIsMissing) {
  save({});
  EXPECT_THAT(exported({}).notes,
              ElementsAre("the checkpoint does not name initial weights: from_pretrained cannot load the export; help: "
                          "name the folder that has config.json with --config"));
  std::filesystem::remove_all(folder / "out");
  EXPECT_EQ(errorOf({.config = folder / "run"}), (folder / "run") + ": no config.json in this folder");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  writeText(folder / "model/config.json", "[]");
  EXPECT_EQ(errorOf({.config = folder / "model"}), (folder / "model/config.json") + ": it is not a JSON object");
}

TEST_F(ExportTest, WritesOverNothing) {
  save({});
  EXPECT_EQ(errorOf({.output = folder / "model"}),
            "cannot write '" + (folder / "model") + "': it already exists; help: name a folder that does not exist");
  EXPECT_EQ(errorOf({.output = "/proc/out"}), "cannot write '/proc/out': No such file or directory");
}

TEST_F(ExportTest, WritesAdaptersAlone) {
  writeText(folder / "model/adapter_config.json", "{\"r\": 4}");
  save({.name = adapter, .hasFrozen = true}, folder / "model");
  ExportReport report = exported({.adapters = true});
  EXPECT_THAT(report.files, ElementsAre("adapter_config.json", "adapter_model.safetensors"));
  EXPECT_THAT(report.notes, ElementsAre());
  EXPECT_THAT(elementsOf(folder / "out/adapter_model.safetensors", "base_model.model.model.q_proj.lora_A.weight"),
              Each(behindStep(9).parameter));
  EXPECT_EQ(textOf("adapter_config.json"), "{\"r\": 4}");
}

TEST_F(ExportTest, SaysWhatIsTrainedBesideAdapters) {
  writeText(folder / "model/adapter_config.json", "{}");
  save({.name = adapter, .hasFrozen = true, .isBaseTrained = true}, folder / "model");
  EXPECT_THAT(exported({.adapters = true}).notes,
              ElementsAre("trained tensors that are not adapters are not written: 'base'"));
}

TEST_F(ExportTest, AdaptersAreAskedForWhereThereAreSome) {
  save({.name = adapter});
  EXPECT_EQ(errorOf({}), (folder / "run/step-000009") +
                             ": the model has PEFT adapters, which an export of plain weights "
                             "cannot hold; help: export them alone with --adapters");
  EXPECT_EQ(errorOf({.adapters = true}), "the checkpoint does not name initial weights; help: name the folder that "
                                         "`tools/export_model.py --config-out` has written with --config");
  EXPECT_EQ(errorOf({.config = folder / "run", .adapters = true}),
            (folder / "run") +
                ": no adapter_config.json; help: name the folder that `tools/export_model.py --config-out` "
                "has written with --config");
}

TEST_F(ExportTest, AModelWithoutAdapters) {
  save({});
  EXPECT_EQ(errorOf({.adapters = true}),
            (folder / "run/step-000009") + ": the model has no PEFT adapters; help: leave out --adapters");
}

} // namespace
