//===- build_pipeline_test.cpp - the passes of a phase --------------------===//

#include "compiler/pipeline/build_pipeline.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassRegistry.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace mlir;

namespace {

const Phase phases[] = {Phase::import, Phase::place, Phase::propagate, Phase::partition, Phase::schedule};

/// The passes of a phase, in the form of meshplan-opt's options.
std::string textOf(MLIRContext &context, Phase phase, const PipelineOptions &options) {
  PassManager manager(&context);
  buildPhase(manager, phase, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  return text;
}

TEST(BuildPipeline, EveryPassHasItsFlag) {
  registerPasses();
  MLIRContext context;
  for (Phase phase : phases) {
    std::string text = textOf(context, phase, {});
    PassManager manager(&context);
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    llvm::StringRef inner = text;
    ASSERT_TRUE(inner.consume_front("any(") && inner.consume_back(")")) << text;
    EXPECT_FALSE(inner.empty()) << phaseName(phase).str();
    EXPECT_TRUE(succeeded(parsePassPipeline(inner, manager, stream))) << text << errors;
    std::string again;
    llvm::raw_string_ostream reprinted(again);
    manager.printAsTextualPipeline(reprinted);
    EXPECT_EQ(again, text);
  }
}

TEST(BuildPipeline, OnlyPropagationIsStrict) {
  MLIRContext context;
  PipelineOptions strict;
  strict.strict = true;
  for (Phase phase : phases) {
    bool differs = textOf(context, phase, strict) != textOf(context, phase, {});
    EXPECT_EQ(differs, phase == Phase::propagate) << phaseName(phase).str();
  }
  EXPECT_THAT(textOf(context, Phase::propagate, strict), testing::HasSubstr("strict=true"));
}

TEST(BuildPipeline, DialectsOfThePhasesAreKnown) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  for (llvm::StringRef name : {"plan", "sched", "func"})
    EXPECT_TRUE(context.getOrLoadDialect(name)) << name.str();
}

} // namespace
