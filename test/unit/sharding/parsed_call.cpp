//===- parsed_call.cpp - calls and rules as text --------------------------===//

#include "parsed_call.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace meshplan {

CallTest::CallTest() { context.loadDialect<plan::PlanDialect>(); }

CallView CallTest::parse(StringRef target, StringRef args, StringRef types) {
  CallView call;
  call.target = target;
  call.args = dyn_cast_or_null<DictionaryAttr>(parseAttribute(args, &context));
  auto type = dyn_cast_or_null<FunctionType>(parseType(types, &context));
  EXPECT_TRUE(call.args) << args.str();
  EXPECT_TRUE(type) << types.str();
  if (!call.args)
    call.args = DictionaryAttr::get(&context);
  if (!type)
    return call;
  for (Type input : type.getInputs())
    call.operands.push_back(cast<RankedTensorType>(input));
  for (Type result : type.getResults())
    call.results.push_back(cast<RankedTensorType>(result));
  return call;
}

OpRecord CallTest::record(StringRef target) {
  const OpRecord *found = OpRegistry::get().lookup(target);
  EXPECT_TRUE(found) << target.str() << " has no record";
  return found ? *found : OpRecord();
}

std::string CallTest::rule(StringRef target, StringRef args, StringRef types) {
  CallView call = parse(target, args, types);
  FactorRule made = record(target).rule(call);
  if (std::optional<std::string> fault = made.findFault(call.operands, call.results))
    return "fault: " + *fault;
  return describe(made);
}

static StringRef kindName(FactorKind kind) {
  switch (kind) {
  case FactorKind::parallel:
    return "";
  case FactorKind::sum:
    return ":sum";
  case FactorKind::max:
    return ":max";
  case FactorKind::whole:
    return ":whole";
  }
  llvm_unreachable("all kinds are named");
}

std::string describe(const FactorRule &rule) {
  std::string text;
  llvm::raw_string_ostream out(text);
  SmallVector<unsigned> order;
  auto letter = [&](unsigned factor) {
    if (!llvm::is_contained(order, factor))
      order.push_back(factor);
    return static_cast<char>('a' + std::distance(order.begin(), llvm::find(order, factor)));
  };
  auto describeTensor = [&](const TensorFactors &tensor) {
    out << '[';
    unsigned dim = 0;
    llvm::interleaveComma(tensor.dims, out, [&](ArrayRef<unsigned> factors) {
      if (factors.empty())
        out << '1';
      bool joined = tensor.isJoined(dim);
      for (auto [place, factor] : llvm::enumerate(factors))
        out << (joined && place > 0 ? "|" : "") << letter(factor);
      if (tensor.sharers(dim) > 1)
        out << '/' << tensor.sharers(dim);
      ++dim;
    });
    out << ']';
  };
  llvm::interleaveComma(rule.operands, out, describeTensor);
  out << (rule.operands.empty() ? "-> " : " -> ");
  llvm::interleaveComma(rule.results, out, describeTensor);
  for (auto [index, factor] : llvm::enumerate(order))
    out << (index == 0 ? "; " : " ") << letter(factor) << '=' << rule.factors[factor].size
        << kindName(rule.factors[factor].kind);
  return text;
}

std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

std::string describe(const Linearity &linearity) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(
      linearity.sets, out,
      [&](ArrayRef<unsigned> set) {
        out << '{';
        llvm::interleaveComma(set, out);
        out << '}';
      },
      " ");
  if (linearity.movesElements)
    out << (linearity.sets.empty() ? "moves" : " moves");
  return text;
}

} // namespace meshplan
