//===- read_archive_test.cpp - the file and its format ----------*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

const std::string reexport = "\nhelp: export the model again with torch.export.save of PyTorch 2.8 or newer";

std::vector<std::string> errorsOfFile(const std::string &path) { return errorsOf(readArchive(path), path); }

std::vector<std::string> errorsOfMembers(const Members &members) { return errorsOfFile(writeZip(members)); }

TEST(ReadArchive, ReadsStoredAndDeflatedMembersAlike) {
  for (bool deflated : {false, true}) {
    ReadResult result = readArchive(writeZip(linearModel().members(), deflated));
    ASSERT_THAT(result.errors, IsEmpty());
    const ExportedProgram &program = *result.program;
    EXPECT_EQ(program.torchVersion, "2.11.0");
    ASSERT_EQ(program.nodes.size(), 1u);
    EXPECT_EQ(program.nodes[0].target, "aten.linear.default");
    EXPECT_EQ(program.modulePath(program.nodes[0]), "proj");
  }
}

TEST(ReadArchive, RefusesAFileThatIsMissing) {
  EXPECT_THAT(errorsOfFile("/nonexistent/m.pt2"),
              ElementsAre("'FILE' cannot be opened: no such file or directory\nhelp: torch.export.save(program, path) "
                          "writes it; in a plan "
                          "a relative path starts at the plan's folder"));
}

TEST(ReadArchive, RefusesAFolder) {
  EXPECT_THAT(errorsOfFile("/tmp"),
              ElementsAre("'FILE' is a folder\nhelp: name the .pt2 file that torch.export.save wrote"));
}

TEST(ReadArchive, RefusesAFileThatIsNoZip) {
  EXPECT_THAT(errorsOfFile(writeFile("solver pt2")),
              ElementsAre("'FILE' is not a zip archive, or is truncated\nhelp: a model is written by "
                          "torch.export.save(program, 'model.pt2')"));
}

TEST(ReadArchive, RefusesAnEmptyFile) { EXPECT_EQ(errorsOfFile(writeFile("")).size(), 1u); }

TEST(ReadArchive, RefusesEveryTruncation) {
  std::string bytes = readFile(writeZip(linearModel().members(), true));
  for (size_t size = 1; size < bytes.size(); size += 7) {
    std::string path = writeFile(bytes.substr(0, size));
    EXPECT_THAT(errorsOfFile(path), ElementsAre(HasSubstr("truncated")));
    unlink(path.c_str());
  }
}

TEST(ReadArchive, RefusesAMemberWithAWrongChecksum) {
  std::string bytes = readFile(writeZip(linearModel().members()));
  bytes[bytes.find("linear.default")] = 'L';
  EXPECT_THAT(errorsOfFile(writeFile(bytes)),
              ElementsAre("'FILE': member 'm/models/model.json' cannot be read: CRC error"));
}

TEST(ReadArchive, RefusesAnotherKindOfZip) {
  EXPECT_THAT(errorsOfMembers({{"version", "1.0"}, {"serialized_exported_program.json", "{}"}}),
              ElementsAre("'FILE': not an archive of torch.export.save: it has no member 'archive_format'" + reexport));
}

TEST(ReadArchive, RefusesAnotherFormatOrVersion) {
  Members members = linearModel().members();
  members["m/archive_format"] = "torchscript";
  EXPECT_THAT(errorsOfMembers(members),
              ElementsAre("'FILE': archive format is 'torchscript', supported is 'pt2'" + reexport));
  members = linearModel().members();
  members["m/archive_version"] = "3\n";
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'FILE': archive version is '3', supported is '0'" + reexport));
  members = linearModel().members();
  members["m/byteorder"] = "big";
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'FILE': byte order is 'big', supported is 'little'" + reexport));
}

TEST(ReadArchive, RefusesAnotherMajorVersionOfTheSchema) {
  TestModel model = linearModel();
  model.schemaVersion = {{"major", 9}, {"minor", 2}};
  EXPECT_THAT(
      errorsOf(model),
      ElementsAre("'FILE': schema version is 9.2, supported is 8.x\nhelp: export the model with a PyTorch whose "
                  "torch/_export/serde/schema.py has major version 8, such as 2.11"));
}

TEST(ReadArchive, AcceptsALaterMinorVersionOfTheSchema) {
  TestModel model = linearModel();
  model.schemaVersion["minor"] = 99;
  EXPECT_THAT(errorsOf(model), IsEmpty());
}

TEST(ReadArchive, RefusesAnArchiveWithoutExactlyOneModel) {
  Members members = linearModel().members();
  members["m/models/other.json"] = "{}";
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'FILE': has 2 models, exactly one is supported\nhelp: save one "
                                                    "program with torch.export.save"));
  members.erase("m/models/other.json");
  members.erase("m/models/model.json");
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'FILE': has no exported model ('m/models/*.json')" + reexport));
}

TEST(ReadArchive, RefusesAnArchiveWithAMissingMember) {
  for (const char *name : {"m/archive_version", "m/data/weights/model_weights_config.json",
                           "m/data/constants/model_constants_config.json"}) {
    Members members = linearModel().members();
    members.erase(name);
    EXPECT_THAT(errorsOfMembers(members), ElementsAre("'FILE': has no member '" + std::string(name) + "'" + reexport));
  }
}

TEST(ReadArchive, NamesThePlaceOfAMistakeInTheJson) {
  Members members = linearModel().members();
  members["m/models/model.json"] = "{\"graph_module\": ";
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'models/model.json': not valid JSON at byte 18"));
  members["m/models/model.json"] = std::string(300, '[');
  EXPECT_THAT(errorsOfMembers(members), ElementsAre("'models/model.json': nested deeper than 200 levels"));

  TestModel model = linearModel();
  model.graph.json["nodes"][0]["target"] = 5;
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.nodes[0].target: expected a string, "
                                        "found number"));
  model = linearModel();
  model.graph.json["nodes"][0].erase("inputs");
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.nodes[0]: has no member 'inputs'"));
}

/// Visits every value of a JSON tree.
template <typename Visitor> void forEachValue(Json &tree, Visitor visit) {
  visit(tree);
  if (tree.is_structured())
    for (Json &child : tree)
      forEachValue(child, visit);
}

TEST(ReadArchive, SurvivesEveryWrongValueInTheJson) {
  TestModel model = linearModel();
  model.buffer("scale", {2}, std::string(8, '\0'));
  model.outSpec({{"type", "builtins.dict"},
                 {"context", "[\"y\"]"},
                 {"children_spec", {{{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}}}}});
  Members members = model.members();
  for (const char *name : {"m/models/model.json", "m/data/weights/model_weights_config.json",
                           "m/data/constants/model_constants_config.json"}) {
    Json tree = Json::parse(members[name]);
    forEachValue(tree, [&](Json &value) {
      Json original = value;
      for (const Json &wrong : {Json(), Json(-1), Json(1e300), Json("x"), Json::array(), Json::object(), Json(true)}) {
        value = wrong;
        Members broken = members;
        broken[name] = tree.dump();
        std::string path = writeZip(broken);
        ReadResult result = readArchive(path);
        EXPECT_NE(result.program.has_value(), !result.errors.empty());
        unlink(path.c_str());
      }
      value = original;
    });
  }
}

TEST(BufferValues, AreReadOnDemand) {
  TestModel model = linearModel();
  model.storedBuffer("table", {3}, floats({1, 2, 3}));
  ExportedProgram program = readProgram(model);
  EXPECT_EQ(program.buffers[0].payload, "m/data/weights/buffer_1");
  EXPECT_FALSE(program.buffers[0].data.has_value()) << "it was not requested";
  std::string digest = program.digest;
  program = readWithBuffers(model);
  EXPECT_NE(program.digest, digest);
  ASSERT_TRUE(program.buffers[0].data.has_value());
  EXPECT_THAT(floatsOf(*program.buffers[0].data), ElementsAre(1, 2, 3));
}

/// Weights from a file replace it.
TEST(BufferValues, MayBeMissing) {
  const std::pair<const char *, std::function<void(TestModel &)>> changes[] = {
      {"empty", [](TestModel &model) { model.payloads["data/weights/buffer_1"] = ""; }},
      {"missing", [](TestModel &model) { model.payloads.erase("data/weights/buffer_1"); }},
      {"unlisted", [](TestModel &model) { model.weights.erase("table"); }},
      {"too short", [](TestModel &model) { model.payloads["data/weights/buffer_1"] = floats({1, 2}); }},
      {"of another type", [](TestModel &model) { model.weights["table"]["tensor_meta"]["dtype"] = 8; }},
      {"too large",
       [](TestModel &model) { model.payloads["data/weights/buffer_1"] = std::string(maxBufferBytes + 1, 0); }},
  };
  for (const auto &[name, change] : changes) {
    TestModel model = linearModel();
    model.storedBuffer("table", {3}, floats({1, 2, 3}));
    change(model);
    EXPECT_FALSE(readWithBuffers(model).buffers[0].data.has_value()) << name;
  }
}

} // namespace
