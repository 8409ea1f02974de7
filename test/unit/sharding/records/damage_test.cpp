//===- damage_test.cpp - calls that do not fit their operator -------------===//
//
// An archive may have any arguments for an operator, and nothing checks them against PyTorch's schema before a record
// reads them. Each sample is called with one argument, operand or result missing or of another kind; the answer of the
// record does not matter, as long as it returns one.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/sharding/parsed_call.h"
#include <filesystem>

using namespace meshplan;
using namespace mlir;

namespace {

class RecordDamage : public CallTest {
protected:
  /// Every function of the record, in the order in which the compiler calls them.
  static void callAll(const CallView &call) {
    const OpRecord *known = OpRegistry::get().lookup(call.target);
    FactorRule rule = factorRuleOf(call, known);
    EXPECT_EQ(rule.operands.size(), call.operands.size());
    known->linearity(call);
    known->cost(call);
    for (auto [index, type] : llvm::enumerate(call.results))
      EXPECT_EQ(static_cast<int64_t>(stridesOf(call, known, index).size()), type.getRank()) << call.target.str();
    if (known->localize)
      known->localize(call, plan::MeshOp());
    if (known->splitAddend)
      known->splitAddend(call);
    if (known->dropUnread)
      known->dropUnread(call);
  }

  SmallVector<Attribute> otherValues() {
    Builder builder(&context);
    Attribute zero = builder.getI64IntegerAttr(0), one = builder.getI64IntegerAttr(1);
    SmallVector<Attribute> values{builder.getUnitAttr(),
                                  builder.getBoolAttr(true),
                                  builder.getF64FloatAttr(0.5),
                                  builder.getStringAttr("x"),
                                  TypeAttr::get(builder.getF64Type()),
                                  builder.getArrayAttr({}),
                                  builder.getArrayAttr({zero}),
                                  builder.getArrayAttr({one, one, one, one, one}),
                                  builder.getArrayAttr({builder.getUnitAttr()})};
    for (int64_t number : {int64_t(0), int64_t(-1), int64_t(-7), int64_t(7), INT64_MAX, INT64_MIN}) {
      values.push_back(builder.getI64IntegerAttr(number));
      values.push_back(builder.getArrayAttr(builder.getI64IntegerAttr(number)));
      values.push_back(builder.getArrayAttr({builder.getI64IntegerAttr(number), one}));
    }
    for (int64_t operand : {0, 1}) {
      Attribute reference = plan::OperandRefAttr::get(&context, operand);
      values.push_back(reference);
      values.push_back(builder.getArrayAttr({reference}));
    }
    return values;
  }

  void damageArguments(const CallView &call) {
    for (NamedAttribute argument : call.args) {
      CallView damaged = call;
      NamedAttrList list(call.args);
      list.erase(argument.getName());
      damaged.args = list.getDictionary(&context);
      callAll(damaged);
      for (Attribute value : otherValues()) {
        list.set(argument.getName(), value);
        damaged.args = list.getDictionary(&context);
        callAll(damaged);
      }
    }
  }

  static SmallVector<RankedTensorType> otherTypes(RankedTensorType type) {
    SmallVector<RankedTensorType> types;
    auto add = [&](ArrayRef<int64_t> shape) { types.push_back(RankedTensorType::get(shape, type.getElementType())); };
    add({});
    add({0});
    add({7});
    add({3, 5});
    add({2, 1, 0, 3, 4, 5});
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      SmallVector<int64_t> shape(type.getShape());
      for (int64_t extent : {int64_t(0), int64_t(1), shape[dim] + 1, int64_t(1) << 40}) {
        shape[dim] = extent;
        add(shape);
      }
      shape.erase(shape.begin() + dim);
      add(shape);
    }
    return types;
  }

  template <typename Types> static void damageTypes(const CallView &call, Types CallView::*side) {
    for (size_t index = 0; index < (call.*side).size(); ++index) {
      CallView damaged = call;
      for (RankedTensorType type : otherTypes((call.*side)[index])) {
        (damaged.*side)[index] = type;
        callAll(damaged);
      }
    }
    // The importer rejects calls without any.
    CallView fewer = call;
    while ((fewer.*side).size() > 1) {
      (fewer.*side).pop_back();
      callAll(fewer);
    }
    CallView more = call;
    (more.*side).push_back(RankedTensorType::get({2, 3}, Float32Type::get(call.args.getContext())));
    callAll(more);
  }
};

TEST_F(RecordDamage, NoCallEndsTheCompiler) {
  for (const auto &entry : std::filesystem::recursive_directory_iterator(MESHPLAN_RECORD_SAMPLES)) {
    if (entry.is_directory())
      continue;
    auto module = parseSourceFile<ModuleOp>(entry.path().string(), &context);
    ASSERT_TRUE(module) << entry.path();
    module->walk([&](plan::CallOp op) {
      CallView call = CallView::of(op);
      damageArguments(call);
      damageTypes(call, &CallView::operands);
      damageTypes(call, &CallView::results);
    });
  }
}

} // namespace
