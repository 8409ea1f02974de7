//===- optimizer_numbers.cpp - hyperparameters of optimizers ---------------===//
//
// Ranges are those that the classes of torch.optim check. A number that the optimizer does not have is an unknown
// option of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/number_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// An option that takes one number.
struct NumberOption {
  llvm::StringRef name;
  double OptimizerNumbers::*member;
  bool ofSgd, ofAdam;
  bool mayBeNegative = false; ///< PyTorch accepts any dampening
};

const NumberOption numberOptions[] = {
    {"lr", &OptimizerNumbers::lr, true, true},
    {"momentum", &OptimizerNumbers::momentum, true, false},
    {"dampening", &OptimizerNumbers::dampening, true, false, /*mayBeNegative=*/true},
    {"eps", &OptimizerNumbers::eps, false, true},
    {"weight_decay", &OptimizerNumbers::weightDecay, true, true},
};

/// A number with its location.
struct NumberWithRange {
  double value;
  SourceRange range;
};

std::optional<NumberWithRange> numberOf(llvm::ArrayRef<Operand> operands) {
  if (operands.size() != 1 || operands[0].kind != Operand::Kind::Number || !operands[0].number.unit.empty())
    return std::nullopt;
  return NumberWithRange{operands[0].number.value, operands[0].range};
}

OptionRule numberRule(const Context &context, const NumberOption &number, WrittenNumbers &target) {
  std::string name = number.name.str();
  auto take = [&context, &number, &target, name](const Option &option) {
    std::optional<NumberWithRange> read = option.operands.size() == 1 ? numberOf(option.operands[0]) : std::nullopt;
    if (!read)
      return false;
    if (!std::isfinite(read->value) || (read->value < 0 && !number.mayBeNegative))
      context.diagnostics.error(read->range, name + " is a finite number" +
                                                 (number.mayBeNegative ? "" : ", at least 0") + ", and this is " +
                                                 numberText(read->value));
    target.numbers.*number.member = read->value;
    target.ranges[name] = read->range;
    return true;
  };
  return {name, name + " NUMBER", take};
}

OptionRule betasRule(const Context &context, WrittenNumbers &target) {
  auto take = [&context, &target](const Option &option) {
    const Operand *list = singleOperand(option);
    if (list == nullptr || list->kind != Operand::Kind::List || list->list.size() != 2)
      return false;
    std::optional<NumberWithRange> first = numberOf(list->list[0]), second = numberOf(list->list[1]);
    if (!first || !second)
      return false;
    for (const NumberWithRange &beta : {*first, *second})
      if (!(beta.value >= 0 && beta.value < 1))
        context.diagnostics.error(beta.range,
                                  "a beta is at least 0 and below 1, and this is " + numberText(beta.value));
    target.numbers.beta1 = first->value;
    target.numbers.beta2 = second->value;
    target.ranges["betas"] = list->range;
    return true;
  };
  return {"betas", "betas (NUMBER, NUMBER)", take};
}

/// The option has a false value, too: a group may undo the statement of the optimizer.
OptionRule nesterovRule(WrittenNumbers &target) {
  auto take = [&target](const Option &option) {
    std::optional<std::string> word = singleWord(option);
    if (!option.operands.empty() && word != "true" && word != "false")
      return false;
    target.numbers.nesterov = word != "false";
    target.ranges["nesterov"] = option.range;
    return true;
  };
  return {"nesterov", "nesterov [true | false]", take};
}

} // namespace

WrittenNumbers bind::defaultNumbers(OptimizerKind kind) {
  WrittenNumbers result;
  result.numbers.weightDecay = kind == OptimizerKind::Adamw ? 0.01 : 0;
  return result;
}

std::vector<OptionRule> bind::numberRules(const Context &context, OptimizerKind kind, WrittenNumbers &target) {
  std::vector<OptionRule> result;
  for (const NumberOption &number : numberOptions)
    if (kind == OptimizerKind::Sgd ? number.ofSgd : number.ofAdam)
      result.push_back(numberRule(context, number, target));
  if (kind == OptimizerKind::Sgd)
    result.push_back(nesterovRule(target));
  else
    result.push_back(betasRule(context, target));
  return result;
}

/// The option that contradicts `nesterov`; empty if there is none. Negative momentum is reported where it is read.
static llvm::StringRef contradiction(const OptimizerNumbers &numbers) {
  if (!numbers.nesterov)
    return "";
  return numbers.momentum == 0 ? "momentum" : numbers.dampening != 0 ? "dampening" : "";
}

void bind::checkNumbers(const Context &context, const WrittenNumbers &written, const WrittenNumbers *optimizer) {
  llvm::StringRef name = contradiction(written.numbers);
  if (name.empty() || (optimizer != nullptr && contradiction(optimizer->numbers) == name))
    return;
  bool isMomentum = name == "momentum";
  Diagnostic &error = context.diagnostics.error(written.ranges.at("nesterov"),
                                                isMomentum ? "nesterov needs a momentum above 0, and it is 0"
                                                           : "nesterov needs a dampening of 0, and it is " +
                                                                 numberText(written.numbers.dampening));
  if (auto range = written.ranges.find(name.str()); range != written.ranges.end())
    error.note(range->second, (name + " is stated here").str());
  error.help(isMomentum ? "state a momentum, as in 'momentum 0.9', or remove 'nesterov'" : "remove one of the two");
}
