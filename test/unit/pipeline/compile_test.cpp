//===- compile_test.cpp - from a plan file to a schedule ------------------===//

#include "compiler/pipeline/compile.h"
#include "dialect/plan/plan.h"
#include "dialect/sched/sched.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/archive/test_model.h"
#include "test/unit/temporary_directory.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

using namespace meshplan;
using archive::testing::TestModel;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The plan p.plan beside the archive m.pt2, in which `proj` multiplies x [2, 3] by its weight [4, 3].
class Compile : public testing::Test {
protected:
  Compile() { save("m.pt2", archive::testing::linearModel()); }

  void save(const std::string &name, const TestModel &model) { archive::testing::saveModel(directory / name, model); }
  /// A compilation of these statements for the model; they start in line 3.
  std::unique_ptr<Compilation> compilation(const std::string &statements, std::vector<Definition> definitions = {},
                                           bool strict = false, const std::string &device = "cpu") {
    return of("plan p {\nmodel \"m.pt2\"\n" + statements + "\n}\n", std::move(definitions), strict, device);
  }
  std::unique_ptr<Compilation> of(const std::string &plan, std::vector<Definition> definitions = {},
                                  bool strict = false, const std::string &device = "cpu") {
    return std::make_unique<Compilation>(
        CompileOptions{directory / "p.plan", plan, std::move(definitions), strict, device});
  }
  /// The diagnostics, with lines of the plan: messages, notes and helps.
  std::vector<std::string> said(Compilation &compilation) {
    std::vector<std::string> result;
    for (const meshplan::Diagnostic &diagnostic : compilation.diagnostics().all()) {
      result.push_back(std::to_string(diagnostic.range.line) + ": " + withoutFolder(diagnostic.message));
      for (const meshplan::Note &note : diagnostic.notes)
        result.push_back("note " + std::to_string(note.range.line) + ": " + withoutFolder(note.message));
      for (const std::string &help : diagnostic.helps)
        result.push_back("help: " + help);
    }
    return result;
  }
  std::string withoutFolder(std::string text) const {
    if (size_t at = text.find(directory.path()); at != std::string::npos)
      text.replace(at, directory.path().size(), "DIR");
    return text;
  }
  template <typename OpT> static size_t count(mlir::ModuleOp module) {
    size_t found = 0;
    module.walk([&](OpT) { ++found; });
    return found;
  }

  TemporaryDirectory directory;
};

const std::string rowwise = "mesh tp = 3\nproj: rowwise tp";

TEST_F(Compile, PhasesRunUpToTheLastThatIsAskedFor) {
  struct {
    Phase last;
    bool isPlaced, hasReshards;
    size_t allReduces, programs;
  } cases[] = {{Phase::import, false, false, 0, 0},
               {Phase::place, true, false, 0, 0},
               {Phase::propagate, true, true, 0, 0},
               {Phase::partition, true, false, 1, 0},
               {Phase::schedule, false, false, 0, 1}};
  for (auto [last, isPlaced, hasReshards, allReduces, programs] : cases) {
    auto compiled = compilation(rowwise + ", input split 1 over tp, output replicate");
    ASSERT_TRUE(compiled->run(last)) << compiled->diagnostics().text();
    mlir::ModuleOp module = compiled->module();
    bool isSharded = false;
    for (auto function : module.getOps<mlir::func::FuncOp>())
      isSharded |= plan::getSharding(function.getArgument(0)) != plan::ShardingAttr();
    EXPECT_EQ(isSharded, isPlaced) << phaseName(last).str();
    EXPECT_EQ(count<plan::ReshardOp>(module) > 0, hasReshards) << phaseName(last).str();
    EXPECT_EQ(count<plan::AllReduceOp>(module), allReduces) << phaseName(last).str();
    EXPECT_EQ(count<sched::ProgramOp>(module), programs) << phaseName(last).str();
  }
}

TEST_F(Compile, WhatWasCompiledIsKnown) {
  auto compiled = compilation(rowwise);
  ASSERT_TRUE(compiled->run(Phase::import)) << compiled->diagnostics().text();
  EXPECT_EQ(compiled->plan().name, "p");
  EXPECT_EQ(compiled->plan().modelFile, "m.pt2");
  ASSERT_EQ(compiled->model().parameters.size(), 1u);
  EXPECT_EQ(parameterPath(compiled->model(), compiled->model().parameters[0]), "proj.weight");
  EXPECT_EQ(compiled->digestOfModel().size(), 64u);
}

TEST_F(Compile, EqualArchivesHaveEqualDigests) {
  TestModel other = archive::testing::linearModel();
  save("same.pt2", other);
  other.graph.json["nodes"][0]["target"] = "torch.ops.aten.matmul.default";
  save("other.pt2", other);
  auto digest = [&](const std::string &name) {
    auto compiled = of("plan p {\nmodel \"" + name + "\"\nrest: replicate\n}");
    EXPECT_TRUE(compiled->run(Phase::import)) << compiled->diagnostics().text();
    return compiled->digestOfModel();
  };
  EXPECT_EQ(digest("m.pt2"), digest("same.pt2"));
  EXPECT_NE(digest("m.pt2"), digest("other.pt2"));
}

TEST_F(Compile, ThePlanIsReadFromItsFile) {
  CompileOptions options;
  options.planFile = directory / "p.plan";
  Compilation missing(options);
  EXPECT_FALSE(missing.run(Phase::import));
  EXPECT_EQ(withoutFolder(missing.diagnostics().text()),
            "DIR/p.plan: error: cannot be read: No such file or directory\n");
  std::ofstream(options.planFile) << "plan q {\nmodel \"m.pt2\"\nrest: replicate\n}\n";
  Compilation written(options);
  EXPECT_TRUE(written.run(Phase::schedule)) << written.diagnostics().text();
  EXPECT_EQ(written.plan().name, "q");
}

TEST_F(Compile, APlanThatIsNoneEndsThere) {
  auto wrong = of("plan p {\nloss\n}");
  EXPECT_FALSE(wrong->run(Phase::schedule));
  EXPECT_EQ(wrong->diagnostics().errorCount(), 1u);
  auto none = of("plan p {\nrest: replicate\n}");
  EXPECT_FALSE(none->run(Phase::import));
  EXPECT_THAT(said(*none),
              ElementsAre("0: the plan names no model", "help: add 'model \"FILE.pt2\"', written by torch.export"));
}

TEST_F(Compile, TheModelLiesBesideThePlan) {
  auto missing = of("plan p {\nmodel \"sub/none.pt2\"\nrest: replicate\n}");
  EXPECT_FALSE(missing->run(Phase::import));
  EXPECT_THAT(said(*missing), ElementsAre("2: 'DIR/sub/none.pt2' cannot be opened: no such file or directory",
                                          "help: torch.export.save(program, path) writes it; in a plan a relative path "
                                          "starts at the plan's folder"));
  auto whole = of("plan p {\nmodel \"" + directory / "m.pt2" + "\"\nrest: replicate\n}");
  EXPECT_TRUE(whole->run(Phase::import)) << whole->diagnostics().text();
  std::ofstream(directory / "text.pt2") << "text";
  auto text = of("plan p {\nmodel \"text.pt2\"\nrest: replicate\n}");
  EXPECT_FALSE(text->run(Phase::import));
  EXPECT_THAT(said(*text), ElementsAre("2: 'DIR/text.pt2' is not a zip archive, or is truncated",
                                       "help: a model is written by torch.export.save(program, 'model.pt2')"));
}

TEST_F(Compile, ItReadsThePlanAndTheModel) {
  std::ofstream(directory / "p.plan") << "written";
  std::ofstream(directory / "other") << "other";
  std::filesystem::create_symlink(directory / "m.pt2", directory / "link");
  auto compiled = compilation(rowwise);
  ASSERT_TRUE(compiled->run(Phase::import)) << compiled->diagnostics().text();
  for (const char *name : {"p.plan", "m.pt2", "./m.pt2", "link"})
    EXPECT_TRUE(compiled->reads(directory / name)) << name;
  for (const char *name : {"other", "none"})
    EXPECT_FALSE(compiled->reads(directory / name)) << name;
}

TEST_F(Compile, DefinitionsAreTakenOver) {
  auto compiled = compilation("mesh tp = 1\nproj: rowwise tp", {{"tp", "3"}});
  ASSERT_TRUE(compiled->run(Phase::schedule)) << compiled->diagnostics().text();
  EXPECT_EQ(compiled->plan().environment.mesh.axes.at(0).size, 3);
}

TEST_F(Compile, WhatAPassReportsIsSaidOfThePlan) {
  // 4 features are too few for 6 ranks.
  auto compiled = compilation("mesh tp = 6\nproj: replicate,\n  output split 1 over tp");
  EXPECT_FALSE(compiled->run(Phase::schedule));
  ASSERT_FALSE(compiled->diagnostics().all().empty());
  const meshplan::Diagnostic &error = compiled->diagnostics().all().front();
  EXPECT_EQ(error.message,
            "'output split 1 over tp' splits dim 1 of size 4 into 6 shards, which leaves ranks without elements");
  EXPECT_EQ(error.range.line, 5);
  EXPECT_EQ(error.range.column, 10);
  EXPECT_THAT(error.helps, ElementsAre("split it into at most as many shards as its size"))
      << "a note that helps is a help";
  EXPECT_THAT(error.notes, IsEmpty());
}

TEST_F(Compile, OnlyAStrictCompilationRefusesWhatNothingStates) {
  TestModel model = archive::testing::linearModel();
  model.graph.node("torch.ops.aten.softmax.int",
                   {archive::testing::tensor("self", "linear"), archive::testing::argument("dim", {{"as_int", 1}})},
                   "soft", {2, 4});
  model.graph.json["outputs"] = archive::testing::Json::array();
  model.outputSpecs = archive::testing::Json::array();
  model.output("soft");
  save("m.pt2", model);
  for (bool strict : {false, true}) {
    auto compiled = compilation("mesh tp = 2\nproj: colwise tp", {}, strict);
    EXPECT_EQ(compiled->run(Phase::schedule), !strict) << compiled->diagnostics().text();
    ASSERT_EQ(compiled->diagnostics().all().size(), 1u);
    const meshplan::Diagnostic &report = compiled->diagnostics().all().front();
    EXPECT_EQ(report.severity, strict ? Severity::Error : Severity::Warning);
    EXPECT_EQ(report.range.line, 4);
    EXPECT_THAT(report.message, testing::StartsWith("nothing in the plan asks for this reshard: 'aten.softmax.int'"));
  }
}

/// A model whose input has a dim s0 between 2 and 8.
TestModel symbolicModel() {
  TestModel model = archive::testing::linearModel();
  using archive::testing::symbol;
  model.graph.json["tensor_values"]["x"] = archive::testing::tensorMeta({symbol("s0"), 3});
  model.graph.json["tensor_values"]["linear"] = archive::testing::tensorMeta({symbol("s0"), 4});
  model.ranges = {{"s0", {{"min_val", 2}, {"max_val", 8}}}};
  return model;
}

TEST_F(Compile, SymbolsGetTheExtentsOfThePlan) {
  save("m.pt2", symbolicModel());
  auto compiled = compilation("input x: [batch = 6, _]\nrest: replicate");
  ASSERT_TRUE(compiled->run(Phase::import)) << compiled->diagnostics().text();
  auto function = *compiled->module().getOps<mlir::func::FuncOp>().begin();
  EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(function.getResultTypes()[0]).getDimSize(0), 6);
}

TEST_F(Compile, AnExtentOutOfRangeIsSaidWhereThePlanGivesIt) {
  save("m.pt2", symbolicModel());
  auto plain = compilation("let rows = 9\ninput x: [batch = rows, _]\nrest: replicate");
  EXPECT_FALSE(plain->run(Phase::import));
  const std::string help = "help: choose an extent in this range or export with another range";
  EXPECT_THAT(said(*plain), ElementsAre("4: dim 0 of input 'x' is 9, but the model was exported for 2 to 8", help));
  // The message names the command-line options from which the extent comes, also through other names, and each once;
  // options for another dim are not named.
  auto defined = compilation("let rows = 1; let half = 2; let other = 2\nlet all = rows * half + rows\n"
                             "input x: [batch = all, width = other]\nrest: replicate",
                             {{"half", "4"}, {"other", "3"}, {"rows", "2"}});
  EXPECT_FALSE(defined->run(Phase::import));
  EXPECT_THAT(said(*defined),
              ElementsAre("5: dim 0 of input 'x' is 10, but the model was exported for 2 to 8",
                          "note 0: 'rows' is given by -D rows=2", "note 0: 'half' is given by -D half=4", help));
}

/// The fingerprint in the artifact: its only text of 64 hexadecimal digits.
std::string fingerprintOf(Compilation &compilation, llvm::StringRef version = "1") {
  EXPECT_TRUE(compilation.run(Phase::schedule)) << compilation.diagnostics().text();
  mlir::FailureOr<std::vector<uint8_t>> artifact = compilation.artifact(version);
  EXPECT_TRUE(succeeded(artifact));
  std::string text(artifact->begin(), artifact->end());
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found, std::regex("[0-9a-f]{64}")));
  return found.str();
}

TEST_F(Compile, AnArtifactIsMarkedWithAllThatMakesIt) {
  auto fingerprint = [&](const std::string &statements, std::vector<Definition> definitions,
                         llvm::StringRef version = "1", const std::string &device = "cpu") {
    return fingerprintOf(*compilation(statements, std::move(definitions), false, device), version);
  };
  const std::string plan = "let a = 1; let b = 2\nmesh tp = 3\nproj: rowwise tp";
  std::string first = fingerprint(plan, {});
  EXPECT_EQ(fingerprint(plan, {}), first);
  EXPECT_EQ(fingerprint(plan, {{"a", "1"}}), first) << "what it was already";
  EXPECT_EQ(fingerprint(plan, {{"a", "3"}, {"b", "4"}}), fingerprint(plan, {{"b", "4"}, {"a", "3"}})) << "in any order";
  EXPECT_NE(fingerprint(plan, {{"a", "2"}}), first) << "a name that changes nothing else";
  EXPECT_NE(fingerprint(plan, {{"a", "2"}, {"b", "1"}}), first) << "the same values of other names";
  EXPECT_NE(fingerprint(plan + " ", {}), first);
  EXPECT_NE(fingerprint(plan, {}, "2"), first);
  EXPECT_NE(fingerprint(plan, {}, "1", "cuda"), first);
  // Another archive of the same program: it differs only in its source lines.
  TestModel other = archive::testing::linearModel();
  other.graph.json["nodes"][0]["metadata"]["stack_trace"] = "";
  save("m.pt2", other);
  EXPECT_NE(fingerprint(plan, {}), first);
  // The graph alone does not suffice: values of constants are compiled into the program.
  std::set<std::string> prints;
  for (const char *bytes : {"abcd", "abce"}) {
    TestModel constant = archive::testing::linearModel();
    constant.constant("table", {1}, bytes, archive::ScalarType::Float32);
    save("m.pt2", constant);
    prints.insert(fingerprint(plan, {}));
    TestModel buffer = archive::testing::linearModel();
    buffer.buffer("table", {1}, bytes);
    save("m.pt2", buffer);
    prints.insert(fingerprint(plan, {}));
  }
  EXPECT_EQ(prints.size(), 4u);
}

TEST_F(Compile, AnArtifactIsMarkedWithTheOptionsThatChangeIt) {
  auto with = [&](auto change) {
    CompileOptions options{directory / "p.plan", "plan p {\nmodel \"m.pt2\"\nmesh tp = 3\nproj: rowwise tp\n}\n"};
    change(options);
    Compilation compilation(options);
    return fingerprintOf(compilation);
  };
  auto measured = [&](const std::string &rate) {
    std::ofstream(directory / "c.json") << R"({"name": "c", "device": {"kind": "cpu", "name": "c"}, "nodes": 1,
      "ranks_per_device": 3, "compute": {"flops_per_second": {"f32": 1e11}, "bytes_per_second": 1e10},
      "links": {"node": {"bytes_per_second": )" +
                                               rate + "}}}";
    return with([&](CompileOptions &options) { options.cluster = directory / "c.json"; });
  };
  std::string first = with([](CompileOptions &) {});
  EXPECT_EQ(with([](CompileOptions &options) { options.strict = true; }), first) << "it changes nothing";
  EXPECT_EQ(with([](CompileOptions &options) { options.cluster = "cpu"; }), first) << "what was assumed already";
  EXPECT_NE(with([](CompileOptions &options) { options.solver = "program"; }), first);
  EXPECT_NE(with([](CompileOptions &options) { options.reference = true; }), first);
  std::string slow = measured("1e9");
  EXPECT_NE(slow, first);
  EXPECT_NE(measured("1e10"), slow) << "other numbers in a file of the same name";
}

} // namespace
