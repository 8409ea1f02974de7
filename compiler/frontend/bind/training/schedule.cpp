//===- schedule.cpp - schedules of the learning rate -----------------------===//
//
// Example: `schedule cosine { warmup 100; steps 1000; min 0.1 }`. Each kind has its own options, and an option of
// another kind is as unknown as a misspelt one. Lengths are compared only if every option could be read: a message
// about a sum of which one part is missing would name a number that the plan does not have.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"
#include "compiler/support/number_text.h"
#include "runtime/schema/rate_schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// The kinds and their options; all options but `warmup` and `min` are required.
struct KindRule {
  std::string name;
  LrScheduleKind kind;
  std::vector<llvm::StringRef> options;
};

const std::vector<KindRule> &kindRules() {
  static const std::vector<KindRule> rules = {
      {"constant", LrScheduleKind::Constant, {"warmup"}},
      {"linear", LrScheduleKind::Linear, {"warmup", "steps", "min"}},
      {"cosine", LrScheduleKind::Cosine, {"warmup", "steps", "min"}},
      {"wsd", LrScheduleKind::Wsd, {"warmup", "steps", "decay", "min"}},
  };
  return rules;
}

class ScheduleReader {
public:
  ScheduleReader(const Context &context, const KindRule &rule) : context(context), rule(rule) {
    schedule.kind = rule.kind;
  }

  LrSchedule read(const Option &option);

private:
  OptionRule stepsRule(llvm::StringRef name, int64_t LrSchedule::*member, int64_t least);
  OptionRule minRule();
  void checkStated(const Option &option);
  void checkLengths();
  bool isStated(const std::string &name) const { return ranges.count(name) != 0; }

  const Context &context;
  const KindRule &rule;
  LrSchedule schedule;
  std::map<std::string, SourceRange> ranges; ///< ranges of the values, by option
};

} // namespace

LrSchedule ScheduleReader::read(const Option &option) {
  std::vector<OptionRule> rules = {stepsRule("warmup", &LrSchedule::warmup, 0),
                                   stepsRule("steps", &LrSchedule::steps, 1), stepsRule("decay", &LrSchedule::decay, 1),
                                   minRule()};
  llvm::erase_if(rules, [&](const OptionRule &each) { return !llvm::is_contained(rule.options, each.name); });
  schedule.range = option.range;
  size_t before = context.diagnostics.errorCount();
  readOptions(context, "schedule " + rule.name, option.block, rules);
  if (context.diagnostics.errorCount() == before) {
    checkStated(option);
    checkLengths();
  }
  return schedule;
}

OptionRule ScheduleReader::stepsRule(llvm::StringRef name, int64_t LrSchedule::*member, int64_t least) {
  auto take = [this, name, member, least](const Option &option) {
    std::optional<int64_t> count = singleInteger(context, option);
    if (!count)
      return false;
    SourceRange range = singleOperand(option)->range;
    if (*count < least)
      context.diagnostics.error(range, name.str() + " is at least " + std::to_string(least) + ", and this is " +
                                           std::to_string(*count));
    schedule.*member = *count;
    ranges[name.str()] = range;
    return true;
  };
  return {name.str(), name.str() + " STEPS", take};
}

OptionRule ScheduleReader::minRule() {
  auto take = [this](const Option &option) {
    std::optional<double> value = singleNumber(option);
    if (!value)
      return false;
    if (!isRateMinimum(*value))
      context.diagnostics
          .error(singleOperand(option)->range, "min is a part of lr, from 0 to 1, and this is " + numberText(*value))
          .help("'min 0.1' ends at a tenth of lr");
    schedule.min = *value;
    return true;
  };
  return {"min", "min NUMBER", take};
}

void ScheduleReader::checkStated(const Option &option) {
  for (const char *name : {"steps", "decay"})
    if (llvm::is_contained(rule.options, name) && !isStated(name))
      context.diagnostics.error(option.range, "'schedule " + rule.name + "' needs '" + name + "'")
          .help(llvm::StringRef(name) == "steps" ? "add 'steps NUMBER', the steps of the whole training"
                                                 : "add 'decay NUMBER', how many of the last steps lower lr");
}

void ScheduleReader::checkLengths() {
  if (!isStated("steps") || llvm::is_contained(rule.options, "decay") != isStated("decay"))
    return;
  if (isWithinSteps(schedule.warmup, schedule.decay, schedule.steps))
    return;
  std::string first = isStated("warmup") ? "warmup" : "decay";
  bool hasBoth = isStated("warmup") && isStated("decay");
  std::string stated = first + " " + std::to_string(first == "warmup" ? schedule.warmup : schedule.decay);
  if (hasBoth)
    stated += " and decay " + std::to_string(schedule.decay);
  Diagnostic &error = context.diagnostics.error(
      ranges[first], stated + (hasBoth ? " take" : " takes") + " more than steps " + std::to_string(schedule.steps));
  if (hasBoth)
    error.note(ranges["decay"], "'decay' is stated here");
  error.note(ranges["steps"], "'steps' is stated here")
      .help("'steps' counts the whole training, with warmup and decay");
}

std::optional<LrSchedule> bind::bindSchedule(const Context &context, const Option &option) {
  const Operand *kind = singleOperand(option);
  auto rule = llvm::find_if(kindRules(), [&](const KindRule &known) { return known.name == kind->text; });
  if (rule != kindRules().end())
    return ScheduleReader(context, *rule).read(option);
  std::vector<std::string> names;
  for (const KindRule &known : kindRules())
    names.push_back(known.name);
  context.diagnostics.error(kind->range, "unknown schedule '" + kind->text + "'")
      .help(suggest(kind->text, names, "schedules"));
  return std::nullopt;
}
