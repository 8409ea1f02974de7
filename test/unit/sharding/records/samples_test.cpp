//===- samples_test.cpp - every record fits its samples -------------------===//
//
// Reads test/sharding/records, whose shapes come from PyTorch.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/enumerate_shardings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/sharding/parsed_call.h"
#include <filesystem>
#include <set>

using namespace meshplan;

namespace {

class RecordSamples : public CallTest {
protected:
  /// Calls `visit` with the name of each sample and its call.
  void forEach(llvm::function_ref<void(llvm::StringRef, plan::CallOp)> visit) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(MESHPLAN_RECORD_SAMPLES)) {
      if (entry.is_directory())
        continue;
      auto module = mlir::parseSourceFile<mlir::ModuleOp>(entry.path().string(), &context);
      ASSERT_TRUE(module) << entry.path();
      module->walk([&](mlir::func::FuncOp function) {
        auto calls = llvm::to_vector(function.getOps<plan::CallOp>());
        ASSERT_EQ(calls.size(), 1u) << function.getName().str();
        visit(function.getName(), calls.front());
      });
    }
  }

  static CallView withShardings(CallView call, const CallShardings &shardings) {
    for (auto [type, sharding] : llvm::zip_equal(call.operands, shardings.operands))
      type = plan::withSharding(type, sharding);
    for (auto [type, sharding] : llvm::zip_equal(call.results, shardings.results))
      type = plan::withSharding(type, sharding);
    return call;
  }

  std::vector<plan::MeshAxisAttr> axes{plan::MeshAxisAttr::get(&context, "x", 2),
                                       plan::MeshAxisAttr::get(&context, "y", 3)};
};

TEST_F(RecordSamples, EveryRecordHasASample) {
  std::set<std::string> sampled;
  forEach([&](llvm::StringRef, plan::CallOp call) { sampled.insert(call.getTarget().str()); });
  for (llvm::StringRef target : OpRegistry::get().targets())
    EXPECT_TRUE(sampled.count(target.str())) << target.str() << " has no sample";
  for (const std::string &target : sampled)
    EXPECT_TRUE(OpRegistry::get().lookup(target)) << target << " has no record";
}

TEST_F(RecordSamples, EveryRuleFitsItsCall) {
  forEach([&](llvm::StringRef name, plan::CallOp op) {
    CallView call = CallView::of(op);
    FactorRule rule = record(call.target).rule(call);
    EXPECT_EQ(rule.findFault(call.operands, call.results), std::nullopt) << name.str();
  });
}

TEST_F(RecordSamples, EveryLinearSetNamesOperands) {
  forEach([&](llvm::StringRef name, plan::CallOp op) {
    CallView call = CallView::of(op);
    for (llvm::ArrayRef<unsigned> set : record(call.target).linearity(call).sets)
      for (unsigned operand : set)
        EXPECT_LT(operand, call.operands.size()) << name.str();
  });
}

TEST_F(RecordSamples, EveryCostIsSane) {
  forEach([&](llvm::StringRef name, plan::CallOp op) {
    CallView call = CallView::of(op);
    OpCost cost = record(call.target).cost(call);
    EXPECT_GE(cost.flops, 0) << name.str();
    EXPECT_GE(cost.workspaceBytes, 0) << name.str();
    EXPECT_EQ(cost.bytes == 0, cost.aliases) << name.str();
  });
}

/// Operands are numbered as in the global call, and #base.local only refers to sharded dims.
TEST_F(RecordSamples, EveryLocalFormNamesDividedDims) {
  forEach([&](llvm::StringRef name, plan::CallOp op) {
    CallView call = CallView::of(op);
    OpRecord known = record(call.target);
    if (!known.localize)
      return;
    for (const CallShardings &shardings : legalShardings(call, known, axes)) {
      CallView divided = withShardings(call, shardings);
      LocalCall local = known.localize(divided, plan::MeshOp());
      local.args.walk([&](plan::LocalIntAttr value) {
        auto type = value.getOfResult() ? divided.results[value.getIndex()] : divided.operands[value.getIndex()];
        EXPECT_FALSE(plan::getSharding(type).getDims()[value.getDim()].getAxes().empty()) << name.str();
      });
      EXPECT_TRUE(OpRegistry::get().lookup(local.target)) << name.str() << " becomes " << local.target;
    }
  });
}

TEST_F(RecordSamples, MostSamplesCanBeDivided) {
  int64_t samples = 0, divided = 0;
  forEach([&](llvm::StringRef, plan::CallOp op) {
    CallView call = CallView::of(op);
    ++samples;
    divided += legalShardings(call, record(call.target), axes).size() > 1;
  });
  RecordProperty("samples", static_cast<int>(samples));
  RecordProperty("divided", static_cast<int>(divided));
  EXPECT_GT(divided, samples * 9 / 10);
}

} // namespace
