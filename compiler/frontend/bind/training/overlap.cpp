//===- overlap.cpp - contracts and permissions about the timeline of a step ===//
//
// A clause is a sequence of words, as `require gradients over dp hidden >= 90 %`, which the parser gives as one list of
// operands. What is not of this form is an error with the form; what is, and cannot hold, such as a group that the plan
// cannot have, is an error of its own. compiler/timing/overlap_contracts.h judges the clauses on the timeline. What may
// be split, and whether a step runs in halves, are choices of the schedule.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

const std::string requireForm = "require GROUP [over AXES] hidden >= N %",
                  forbidForm = "forbid [GROUP [over AXES]] exposed > TIME", splitForm = "split products N",
                  halvesForm = "halves";

/// More parts than this are never faster: each one costs a launch and the latency of a collective.
constexpr int64_t mostParts = 64;

const std::vector<std::string> &groupNames() {
  static const std::vector<std::string> names = {"gradients", "parameters", "activations"};
  return names;
}

/// The words of a clause, one after the other.
class ClauseReader {
public:
  explicit ClauseReader(const Option &option) : option(option) {}

  /// The next operand, or null at the end. A clause has no commas.
  const Operand *peek() const {
    bool isList = option.operands.size() == 1 && next < option.operands[0].size();
    return isList ? &option.operands[0][next] : nullptr;
  }
  const Operand *take() {
    const Operand *operand = peek();
    ++next;
    return operand;
  }
  bool takeWord(llvm::StringRef text) {
    bool isWord = peek() && peek()->kind == Operand::Kind::Word && peek()->text == text;
    next += isWord ? 1 : 0;
    return isWord;
  }
  bool isAtEnd() const { return option.operands.size() == 1 && next == option.operands[0].size(); }

private:
  const Option &option;
  size_t next = 0;
};

class OverlapBinder {
public:
  OverlapBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan) {}

  bool take(const Option &option, bool forbids);
  bool takeSplit(const Option &option);
  bool takeHalves(const Option &option);

private:
  bool takeGroup(ClauseReader &reader, BoundOverlapClause &clause);
  bool takeAxes(ClauseReader &reader, BoundOverlapClause &clause);
  bool takeHidden(const Option &option, const Operand *operand, BoundOverlapClause &clause);
  bool takeExposed(const Option &option, const Operand *operand, BoundOverlapClause &clause);
  void checkRepeated(const BoundOverlapClause &clause);

  const Context &context;
  BoundPlan &plan;
};

bool OverlapBinder::takeGroup(ClauseReader &reader, BoundOverlapClause &clause) {
  const Operand *operand = reader.take();
  if (!operand || operand->kind != Operand::Kind::Word)
    return false;
  clause.purpose = operand->text;
  if (!llvm::is_contained(groupNames(), clause.purpose))
    context.diagnostics.error(operand->range, "there is no group of collectives '" + clause.purpose + "'")
        .help(suggest(clause.purpose, groupNames(), "groups"));
  else if (clause.purpose == "gradients" && context.syntax.optimizers.empty())
    context.diagnostics.error(operand->range, "the plan does not train, so there are no gradients to reduce")
        .help("add 'optimizer KIND { ... }', or remove '" + clause.text + "'");
  return takeAxes(reader, clause);
}

bool OverlapBinder::takeAxes(ClauseReader &reader, BoundOverlapClause &clause) {
  if (!reader.takeWord("over"))
    return true;
  const Operand *operand = reader.take();
  std::vector<Word> axes;
  if (operand && operand->kind == Operand::Kind::Word)
    axes.push_back({operand->text, operand->range});
  else if (operand && operand->kind == Operand::Kind::List)
    for (const std::vector<Operand> &group : operand->list)
      for (const Operand &axis : group)
        axes.push_back({axis.text, axis.range});
  clause.axes = resolveAxes(context, axes);
  return !axes.empty();
}

bool OverlapBinder::takeHidden(const Option &option, const Operand *operand, BoundOverlapClause &clause) {
  if (!operand || operand->kind != Operand::Kind::Number)
    return false;
  if (operand->number.unit != "%")
    return context.diagnostics.error(operand->range, "'" + operand->text + "' is not a part of the time")
               .help("write it as 90 %"),
           true;
  clause.hiddenPercent = operand->number.value;
  if (clause.hiddenPercent > 100)
    context.diagnostics
        .error(operand->range, "the hidden part is at most 100 % of the time of a collective, not " + operand->text)
        .help("write 'hidden >= 100 %' if no part of it may be exposed");
  else if (clause.hiddenPercent <= 0)
    context.diagnostics.error(operand->range, "'" + option.text + "' always holds: the hidden part is above 0 %")
        .help("remove the clause, or require more");
  return true;
}

/// Seconds of a time with a unit; nothing for another number.
std::optional<double> secondsOf(const Number &number) {
  double unit = llvm::StringSwitch<double>(number.unit).Case("us", 1e-6).Case("ms", 1e-3).Case("s", 1).Default(0);
  return unit == 0 ? std::nullopt : std::optional(number.value * unit);
}

/// In seconds; its nanoseconds fit in 64 bits.
static constexpr double longestStep = 1e6;

bool OverlapBinder::takeExposed(const Option &option, const Operand *operand, BoundOverlapClause &clause) {
  if (!operand || operand->kind != Operand::Kind::Number)
    return false;
  std::optional<double> seconds = secondsOf(operand->number);
  if (!seconds)
    return context.diagnostics.error(operand->range, "'" + operand->text + "' is not a time")
               .help("write it as 5 ms; the units are us, ms and s"),
           true;
  clause.exposedSeconds = *seconds;
  if (*seconds < 0)
    context.diagnostics.error(operand->range, "'" + option.text + "' never holds: a time is not negative")
        .help("write 'exposed > 0 ms' if nothing may be exposed");
  else if (*seconds > longestStep)
    context.diagnostics.error(operand->range, "'" + option.text + "' always holds: no step takes a million seconds")
        .help("remove the clause, or allow less");
  return true;
}

void OverlapBinder::checkRepeated(const BoundOverlapClause &clause) {
  const Mesh &mesh = context.environment.mesh;
  for (const BoundOverlapClause &other : plan.overlap) {
    if (other.forbids != clause.forbids || other.purpose != clause.purpose ||
        mesh.digitsOf(other.axes) != mesh.digitsOf(clause.axes))
      continue;
    bool isSame = other.hiddenPercent == clause.hiddenPercent && other.exposedSeconds == clause.exposedSeconds;
    context.diagnostics
        .error(clause.range,
               isSame ? "'" + clause.text + "' is stated twice"
                      : "'" + clause.text + "' contradicts '" + other.text + "': both limit the same collectives")
        .note(other.range, "the first one is here")
        .help("keep one of them");
    return;
  }
}

bool OverlapBinder::take(const Option &option, bool forbids) {
  BoundOverlapClause clause;
  clause.forbids = forbids;
  clause.text = option.text;
  clause.range = option.range;
  ClauseReader reader(option);
  bool isOfAll = forbids && reader.peek() && reader.peek()->text == "exposed";
  if (!isOfAll && !takeGroup(reader, clause))
    return false;
  if (!reader.takeWord(forbids ? "exposed" : "hidden") || !reader.takeWord(forbids ? ">" : ">="))
    return false;
  const Operand *limit = reader.take();
  if (!(forbids ? takeExposed(option, limit, clause) : takeHidden(option, limit, clause)) || !reader.isAtEnd())
    return false;
  checkRepeated(clause);
  plan.overlap.push_back(std::move(clause));
  return true;
}

bool OverlapBinder::takeSplit(const Option &option) {
  ClauseReader reader(option);
  if (!reader.takeWord("products"))
    return false;
  const Operand *count = reader.take();
  if (!count || count->kind != Operand::Kind::Number || !count->number.unit.empty() || !reader.isAtEnd())
    return false;
  if (double parts = count->number.value; parts != std::floor(parts) || parts < 2 || parts > mostParts) {
    context.diagnostics
        .error(count->range, "products are split into 2 to " + std::to_string(mostParts) + " parts, not " + count->text)
        .help("write 'split products 4', or remove the clause");
    return true;
  }
  plan.split = BoundSplit{static_cast<int64_t>(count->number.value), option.range};
  return true;
}

bool OverlapBinder::takeHalves(const Option &option) {
  if (!option.operands.empty())
    return false;
  if (context.syntax.optimizers.empty())
    context.diagnostics.error(option.range, "the plan does not train, so no step has halves")
        .help("add 'optimizer KIND { ... }', or remove 'halves'");
  plan.halves = option.range;
  return true;
}

} // namespace

void bind::bindOverlap(const Context &context, const OverlapStatement &statement, BoundPlan &plan) {
  if (statement.clauses.empty())
    context.diagnostics.error(statement.range, "'overlap' states nothing, and so has no effect")
        .help("write a clause, as in 'overlap { require gradients hidden >= 90 % }', or remove the statement");
  OverlapBinder binder(context, plan);
  OptionRule require{"require", requireForm, [&](const Option &option) { return binder.take(option, false); }},
      forbid{"forbid", forbidForm, [&](const Option &option) { return binder.take(option, true); }},
      split{"split", splitForm, [&](const Option &option) { return binder.takeSplit(option); }},
      halves{"halves", halvesForm, [&](const Option &option) { return binder.takeHalves(option); }};
  require.mayRepeat = forbid.mayRepeat = true;
  readOptions(context, "overlap", statement.clauses, {require, forbid, split, halves});
}
