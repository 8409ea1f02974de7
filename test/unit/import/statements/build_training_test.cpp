//===- build_training_test.cpp - training statements as ops ---------------===//

#include "compiler/transforms/import/build_statements.h"
#include "test/unit/import/bound_program.h"
#include "llvm/Support/FormatVariadic.h"

using namespace meshplan;
using namespace mlir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// Consecutive modules a, b and c with a weight each, and a loss; pod = 2, dp = 2, tp = 3.
class BuildTraining : public BoundProgram {
protected:
  BuildTraining() {
    archive::ValueId last = input("x", {12, 6});
    for (const char *name : {"a", "b", "c"}) {
      archive::ValueId weight = parameter(std::string(name) + ".weight", {6, 6}), made = value({12, 6});
      node("aten.linear.default", name, {{"input", last}, {"weight", weight}}, {made});
      last = made;
    }
    archive::ValueId sum = value({});
    node("aten.sum.default", "", {{"self", last}}, {sum});
    output("loss", sum);
  }

  void build(const std::string &statements, const std::string &optimizer = "optimizer adam") {
    bind("mesh pod = 2, dp = 2, tp = 3\ninput x: [batch over (pod, dp), _]\nloss loss\n" + optimizer +
         "\nrest: replicate\n" + statements);
    owner = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(owner->getBody());
    StatementBuilder(bound, outline, diagnostics, builder).build();
  }
  /// The ops of one kind, as text without their dialect.
  template <typename Op> std::vector<std::string> texts(const std::string &statements) {
    build(statements);
    std::vector<std::string> found;
    for (Op op : owner->getOps<Op>())
      found.push_back(withoutSpaces(print(*op.getOperation()).substr(llvm::StringRef("plan.").size())));
    return found;
  }
  /// MLIR prints two spaces before the word of a stage.
  static std::string withoutSpaces(std::string text) {
    if (size_t spaces = text.find("  "); spaces != std::string::npos)
      text.erase(spaces, 1);
    return text;
  }
  std::string data(const std::string &options) {
    std::vector<std::string> found = texts<plan::DataOp>("data dp { " + options + " }");
    return found.empty() ? "none" : found.front();
  }

  /// The data statement of a parameter: `data 0 unit 1 keep`.
  std::string assigned(size_t parameter) {
    OpBuilder builder(&context);
    SmallVector<NamedAttribute> attributes;
    StatementBuilder(bound, outline, diagnostics, builder).addData(parameter, attributes);
    std::string text;
    for (NamedAttribute attribute : attributes) {
      text += (text.empty() ? "" : " ") + attribute.getName().strref().split('.').second.str();
      if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()))
        text += " " + std::to_string(number.getInt());
    }
    return text;
  }

  OwningOpRef<ModuleOp> owner;
};

TEST_F(BuildTraining, TheStageIsTheFarthestThatIsDivided) {
  EXPECT_THAT(data("bucket 1 KiB"), testing::StartsWith("data replicated over [#plan.axis<\"dp\">] bucket 1024 "));
  EXPECT_THAT(data("shard optimizer"), testing::StartsWith("data optimizer over "));
  EXPECT_THAT(data("shard gradients, optimizer"), testing::StartsWith("data gradients over "));
  EXPECT_THAT(data("shard optimizer, parameters, gradients"), testing::StartsWith("data parameters over "));
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BuildTraining, WhatIsDividedIsDividedOverItsOwnAxes) {
  EXPECT_THAT(texts<plan::DataOp>("data pod, dp { shard optimizer over dp }"),
              ElementsAre(HasSubstr("over [#plan.axis<\"dp\">] prefetch 0 as \"data pod, dp\"")));
  EXPECT_THAT(texts<plan::DataOp>("data pod, dp { shard optimizer }"),
              ElementsAre(HasSubstr("over [#plan.axis<\"pod\">, #plan.axis<\"dp\">] prefetch 0 as \"data pod, dp\"")));
  EXPECT_THAT(texts<plan::DataOp>("data pod, dp { bucket none }"),
              ElementsAre(HasSubstr("over [#plan.axis<\"pod\">, #plan.axis<\"dp\">] bucket 0 ")));
}

TEST_F(BuildTraining, WhatIsNotStatedOverlaps) {
  EXPECT_THAT(data("shard parameters, gradients, optimizer"), HasSubstr("prefetch 1 as"));
  EXPECT_THAT(data("shard parameters, gradients, optimizer"), HasSubstr("overlap_gradients"));
  EXPECT_THAT(data("shard parameters, gradients, optimizer; prefetch 3"), HasSubstr("prefetch 3 as"));
  EXPECT_THAT(data("shard parameters, gradients, optimizer; prefetch 0"), HasSubstr("prefetch 0 as"));
  std::string none = data("shard parameters, gradients, optimizer; overlap none");
  EXPECT_THAT(none, HasSubstr("prefetch 0 as"));
  EXPECT_THAT(none, Not(HasSubstr("overlap_gradients")));
  std::string gathers = data("shard parameters, gradients, optimizer; overlap parameters");
  EXPECT_THAT(gathers, HasSubstr("prefetch 1 as"));
  EXPECT_THAT(gathers, Not(HasSubstr("overlap_gradients")));
  EXPECT_THAT(data("shard optimizer"), HasSubstr("prefetch 0 as")) << "nothing is gathered ahead";
}

TEST_F(BuildTraining, WholeGradientsAreReducedAtTheEndAndDividedOnesInEachMicrobatch) {
  auto reducesEach = [&](const std::string &options) {
    build("microbatches 3\ndata dp { " + options + " }");
    return (*owner->getOps<plan::DataOp>().begin()).getReduceEach();
  };
  EXPECT_FALSE(reducesEach("bucket 1 KiB"));
  EXPECT_FALSE(reducesEach("shard optimizer"));
  EXPECT_TRUE(reducesEach("shard gradients, optimizer"));
  EXPECT_TRUE(reducesEach("shard parameters, gradients, optimizer"));
  EXPECT_TRUE(reducesEach("shard optimizer; reduce each microbatch"));
  EXPECT_FALSE(reducesEach("shard gradients, optimizer; reduce last microbatch"));
}

TEST_F(BuildTraining, AMeanBehindTheSumCountsAllRanksOfTheStatement) {
  auto ranks = [&](const std::string &statement) {
    build(statement + " { bucket none; average after collective }");
    return (*owner->getOps<plan::DataOp>().begin()).getAverageAfter();
  };
  EXPECT_EQ(ranks("data dp"), std::optional<uint64_t>(2));
  EXPECT_EQ(ranks("data pod, dp"), std::optional<uint64_t>(4));
}

TEST_F(BuildTraining, WhereThingsLie) {
  auto flags = [&](const std::string &options) {
    build("data dp { " + options + " }");
    plan::DataOp made = *owner->getOps<plan::DataOp>().begin();
    std::string text;
    for (auto [name, is] : {std::pair("parameters on the host", made.getOffloadParameters()),
                            {"optimizer on the host", made.getOffloadOptimizer()},
                            {"contiguous parameters", made.getContiguousParameters()},
                            {"contiguous gradients", made.getContiguousGradients()},
                            {"registered", made.getRegisterBuffers()}})
      text += is ? std::string(text.empty() ? "" : ", ") + name : "";
    return text;
  };
  const std::string all = "shard parameters, gradients, optimizer";
  EXPECT_EQ(flags(all), "");
  EXPECT_EQ(flags(all + "; offload parameters"), "parameters on the host");
  EXPECT_EQ(flags(all + "; offload optimizer"), "optimizer on the host");
  EXPECT_EQ(flags(all + "; offload optimizer, parameters"), "parameters on the host, optimizer on the host");
  EXPECT_EQ(flags(all + "; contiguous gradients"), "contiguous gradients");
  EXPECT_EQ(flags(all + "; contiguous parameters; register buffers"), "contiguous parameters, registered");
  EXPECT_EQ(flags(all + "; contiguous gradients, parameters"), "contiguous parameters, contiguous gradients");
  EXPECT_EQ(flags("bucket 1 KiB; contiguous gradients; register buffers"), "contiguous gradients, registered");
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BuildTraining, ParametersKnowTheirStatementAndUnit) {
  build("data dp on a, b { shard optimizer; unit a, b }\ndata pod on c { shard optimizer; unit c }");
  EXPECT_EQ(assigned(0), "data 0 unit 0");
  EXPECT_EQ(assigned(1), "data 0 unit 1");
  EXPECT_EQ(assigned(2), "data 1 unit 2") << "no two statements have units of one number";
}

TEST_F(BuildTraining, SeveralModulesMayBeOneUnitAndOthersInNone) {
  build("data dp { shard parameters, gradients, optimizer; unit [a, c]; keep b, c }");
  EXPECT_EQ(assigned(0), "data 0 unit 0");
  EXPECT_EQ(assigned(1), "data 0 keep");
  EXPECT_EQ(assigned(2), "data 0 unit 0 keep");
}

TEST_F(BuildTraining, WhatNoStatementNamesSaysNothing) {
  build("data dp on b { shard optimizer }");
  EXPECT_EQ(assigned(0), "");
  EXPECT_EQ(assigned(1), "data 0");
  build("");
  EXPECT_EQ(assigned(1), "");
  EXPECT_EQ(texts<plan::DataOp>("").size(), 0u);
}

TEST_F(BuildTraining, TypesThatArePlaced) {
  auto precision = [&](const std::string &options) {
    return texts<plan::PrecisionOp>("data dp { shard parameters, gradients, optimizer }\nprecision { " + options + " }")
        .front();
  };
  EXPECT_EQ(precision("storage f64; gather bf16; reduce f16; master f64; state f32"),
            "precision {gather = bf16, master = f64, reduce = f16, state = f32, storage = f64}");
  EXPECT_EQ(precision("reduce f64"), "precision {reduce = f64}");
}

TEST_F(BuildTraining, OneMicrobatchIsTheBatch) {
  EXPECT_THAT(texts<plan::MicrobatchesOp>("microbatches 3"), ElementsAre("microbatches 3"));
  EXPECT_THAT(texts<plan::MicrobatchesOp>("microbatches 1"), IsEmpty());
}

TEST_F(BuildTraining, RatesAreAsTheScheduleSays) {
  auto schedule = [&](const std::string &text) {
    build("", "optimizer adam { schedule " + text + " }");
    return print(Attribute(*(*owner->getOps<plan::OptimizerOp>().begin()).getSchedule()));
  };
  EXPECT_EQ(schedule("constant { warmup 3 }"),
            "#base.rate_schedule<kind = constant, warmup = 3, min = 0.000000e+00 : f64>");
  EXPECT_EQ(schedule("wsd { warmup 2; steps 9; decay 4; min 0.5 }"),
            "#base.rate_schedule<kind = wsd, warmup = 2, steps = 9, decay = 4, min = 5.000000e-01 : f64>");
  EXPECT_THAT(schedule("cosine { steps 9 }"), HasSubstr("kind = cosine"));
  EXPECT_THAT(schedule("linear { steps 9 }"), HasSubstr("kind = linear"));
}

TEST_F(BuildTraining, GroupsHaveNumbersOfTheirOwnAndThoseOfTheOptimizer) {
  auto numbers = [&](const std::string &optimizer) {
    build("", optimizer);
    std::vector<std::string> found;
    for (auto group :
         (*owner->getOps<plan::OptimizerOp>().begin()).getGroups().getAsRange<plan::OptimizerGroupAttr>()) {
      std::string text;
      for (FloatAttr number : {group.getLr(), group.getWeightDecay(), group.getMomentum()})
        text += llvm::formatv("{0} ", number.getValueAsDouble()).str();
      found.push_back(text + (group.getNesterov() ? "nesterov" : ""));
    }
    return found;
  };
  EXPECT_THAT(numbers("optimizer sgd { group a { lr 0.5 }; momentum 0.25; nesterov; group c { weight_decay 2 } }"),
              ElementsAre("0.00 0.00 0.25 nesterov", "0.50 0.00 0.25 nesterov", "0.00 2.00 0.25 nesterov"));
  EXPECT_EQ(numbers("optimizer adamw").front(), "0.00 0.01 0.00 ");
}

TEST_F(BuildTraining, PlacesOfStatements) {
  build("data dp { shard optimizer }\nrecompute a\nmicrobatches 3");
  auto line = [](Operation *op) { return print(LocationAttr(op->getLoc())); };
  EXPECT_THAT(line(*owner->getOps<plan::LossOp>().begin()), testing::StartsWith("loc(\"p.plan\":4:"));
  EXPECT_THAT(line(*owner->getOps<plan::OptimizerOp>().begin()), testing::StartsWith("loc(\"p.plan\":5:"));
  EXPECT_THAT(line(*owner->getOps<plan::DataOp>().begin()), testing::StartsWith("loc(\"p.plan\":7:"));
  EXPECT_THAT(line(*owner->getOps<plan::RecomputeOp>().begin()), testing::StartsWith("loc(\"p.plan\":8:"));
  EXPECT_THAT(line(*owner->getOps<plan::MicrobatchesOp>().begin()), testing::StartsWith("loc(\"p.plan\":9:"));
}

} // namespace
