//===- derive.cpp - derivative rules as text ------------------------------===//

#include "derive.h"
#include "compiler/derivatives/derivative_rules.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <sstream>

using namespace mlir;
using namespace meshplan;

/// The items of a list that commas separate.
static SmallVector<StringRef> items(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef &part : parts)
    part = part.trim();
  llvm::erase_if(parts, [](StringRef part) { return part.empty(); });
  return parts;
}

static std::string tensors(ArrayRef<StringRef> types) {
  return llvm::join(llvm::map_range(types, [](StringRef type) { return ("tensor<" + type.rtrim('!') + ">").str(); }),
                    ", ");
}

/// `$0` stands for an operand.
static std::string withOperands(StringRef args) {
  std::string text;
  for (size_t place = 0; place < args.size(); ++place)
    if (args[place] == '$')
      text += ("#base.operand<" + args.substr(++place, 1) + ">").str();
    else
      text += args[place];
  return text;
}

static bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

std::unique_ptr<Derivation> DeriveTest::begin(StringRef target, StringRef args, StringRef types,
                                              std::optional<ArrayRef<unsigned>> wanted) {
  auto [inputs, outputs] = types.split("->");
  SmallVector<StringRef> operands = items(inputs), results = items(outputs);
  std::string arguments, values;
  for (auto [index, type] : llvm::enumerate(operands)) {
    arguments += (index ? ", %" : "%") + std::string(1, 'a' + index) + ": tensor<" + type.str() + ">";
    values += (index ? ", %" : "%") + std::string(1, 'a' + index);
  }
  for (auto [index, type] : llvm::enumerate(results))
    arguments +=
        (arguments.empty() ? "%g" : ", %g") + std::to_string(index) + ": tensor<" + type.rtrim('!').str() + ">";
  readModule("func.func @f(" + arguments + ") {\n%r:" + std::to_string(results.size()) + " = plan.call \"" +
             target.str() + "\"(" + values + ") {" + withOperands(args) + "} in \"block\" : (" + tensors(operands) +
             ") -> (" + tensors(results) + ")\nreturn\n}");
  names.clear();
  gradients.clear();
  for (unsigned index = 0; index < operands.size(); ++index)
    names[argument(index)] = std::string(1, 'a' + index);
  for (auto [index, type] : llvm::enumerate(results)) {
    std::string number = results.size() == 1 ? "" : std::to_string(index);
    Value gradient = argument(operands.size() + index);
    names[gradient] = "g" + number;
    names[call(0).getResult(index)] = "r" + number;
    gradients.push_back(type.ends_with("!") || !isFloat(gradient) ? Value() : gradient);
  }
  llvm::BitVector wants(operands.size());
  for (unsigned index = 0; index < operands.size(); ++index)
    wants[index] = wanted ? llvm::is_contained(*wanted, index) : isFloat(argument(index));
  return std::make_unique<Derivation>(call(0), gradients, wants, OpBuilder(call(0)->getBlock()->getTerminator()));
}

/// The calls from which a value is computed, in the order of the program.
static void gather(Value value, llvm::SetVector<Operation *> &calls) {
  Operation *op = value.getDefiningOp();
  auto call = dyn_cast_or_null<plan::CallOp>(op);
  if (!call || !call.getBackward() || calls.contains(op))
    return;
  for (Value operand : op->getOperands())
    gather(operand, calls);
  calls.insert(op);
}

static std::string typeText(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value.getType();
  return StringRef(text).drop_front(StringRef("tensor<").size()).drop_back().str();
}

std::string DeriveTest::nameOf(Value value) const {
  auto found = names.find(value);
  return found == names.end() ? "?" : found->second;
}

std::string DeriveTest::textOf(Attribute argument, plan::CallOp call) const {
  if (auto operand = dyn_cast<plan::OperandRefAttr>(argument))
    return nameOf(call.getOperand(operand.getIndex()));
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return "[" + llvm::join(llvm::map_range(list, [&](Attribute item) { return textOf(item, call); }), ", ") + "]";
  if (auto number = dyn_cast<FloatAttr>(argument)) {
    std::ostringstream text;
    text << number.getValueAsDouble();
    return text.str();
  }
  if (auto text = dyn_cast<StringAttr>(argument))
    return ("'" + text.getValue() + "'").str();
  if (isa<UnitAttr>(argument))
    return "None";
  return StringRef(print(argument)).split(" : i64").first.str();
}

/// A call that does not match its record would run replicated, or not at all.
void DeriveTest::checkCall(plan::CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  EXPECT_TRUE(record) << view.target.str() << " has no record";
  EXPECT_TRUE(call.getBackward()) << view.target.str();
  EXPECT_EQ(call.getModule(), "block") << view.target.str();
  std::optional<FactorRule> rule = record ? std::optional(record->rule(view)) : std::nullopt;
  EXPECT_EQ(rule ? rule->findFault(view.operands, view.results) : std::nullopt, std::nullopt) << view.target.str();
}

std::string DeriveTest::lineOf(plan::CallOp call, unsigned &count) {
  std::string results, types, args;
  for (Value result : call.getResults()) {
    names[result] = "%" + std::to_string(count++);
    results += (results.empty() ? "" : ", ") + names[result];
    types += (types.empty() ? "" : ", ") + typeText(result);
  }
  for (NamedAttribute argument : call.getArgs())
    args += (args.empty() ? "" : ", ") + argument.getName().str() + " " + textOf(argument.getValue(), call);
  return results + " = " + call.getTarget().str() + "(" + args + "): " + types + "\n";
}

std::string DeriveTest::describe(const Derivation &derivation) {
  if (!derivation.getRefusal().empty())
    return "refused: " + derivation.getRefusal().str();
  EXPECT_TRUE(succeeded(owner->verify()));
  for (auto made : function().getOps<plan::CallOp>())
    if (made != call(0))
      checkCall(made);
  llvm::SetVector<Operation *> calls;
  for (auto [value, gradient] : derivation.getGiven())
    gather(gradient, calls);
  std::string text;
  unsigned count = 0;
  for (Operation *op : calls)
    text += lineOf(cast<plan::CallOp>(op), count);
  for (auto [value, gradient] : derivation.getGiven()) {
    EXPECT_EQ(value.getType(), gradient.getType()) << nameOf(value);
    text += nameOf(value) + ": " + nameOf(gradient) + "\n";
  }
  return text.empty() ? "nothing" : StringRef(text).rtrim('\n').str();
}

std::string DeriveTest::derive(StringRef target, StringRef args, StringRef types) {
  std::unique_ptr<Derivation> derivation = begin(target, args, types);
  derivativeOf(target)(*derivation);
  return describe(*derivation);
}

std::string DeriveTest::deriveOnly(ArrayRef<unsigned> wanted, StringRef target, StringRef args, StringRef types) {
  std::unique_ptr<Derivation> derivation = begin(target, args, types, wanted);
  derivativeOf(target)(*derivation);
  return describe(*derivation);
}
