//===- overlap_contracts.cpp - what a timeline must keep to ---------------===//
//
// A clause names a group of collectives by purpose and axes, and limits either their exposed time or the share of their
// time that must be hidden. Both are sums over the whole step, so that one slow collective may be made up for by
// others.
//
// Example: `require gradients over dp hidden >= 90 %`, and the gradients over dp take 10 ms, of which 2 ms are exposed.
// 80 % are hidden: an error, which shows the collective that is exposed longest, what is computed in its window, and
// how much more would hide it.
//
// On a mesh of one rank no collective exists, and a clause about them holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/timing/overlap_contracts.h"
#include "compiler/cluster/read_cluster.h"
#include "compiler/support/time_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace meshplan;
using llvm::StringRef;

namespace {

/// A collective of a step, and the program that it is in.
struct Found {
  const ProgramTimes *program = nullptr;
  const TimedOperation *operation = nullptr;
};

class ClauseCheck {
public:
  ClauseCheck(const BoundPlan &plan, const BoundOverlapClause &clause, const StepTimes &step, const Cluster &cluster,
              Diagnostics &diagnostics)
      : plan(plan), clause(clause), step(step), cluster(cluster), diagnostics(diagnostics) {}

  void run();

private:
  bool isMeant(StringRef purpose, StringRef communicator) const;
  Found longestExposed() const;
  void reportMissing();
  void report(int64_t allowed, const std::string &problem);
  void addWindow(Diagnostic &error) const;
  SourceRange rangeOf(const PlanLocation &location) const;
  /// "gradients over dp", or "communication".
  std::string subject() const;

  const BoundPlan &plan;
  const BoundOverlapClause &clause;
  const StepTimes &step;
  const Cluster &cluster;
  Diagnostics &diagnostics;
  int64_t time = 0, exposed = 0;
};

} // namespace

/// The axes and digits in the name of a communicator: "dp.tp.1.2" is over dp and the digit tp:(1)2.
static std::vector<AxisRef> digitsOf(StringRef communicator, const Mesh &mesh) {
  std::vector<AxisRef> digits;
  llvm::SmallVector<StringRef> parts;
  communicator.split(parts, '.');
  for (size_t index = 0; index < parts.size(); ++index) {
    std::optional<size_t> axis = mesh.find(parts[index]);
    if (!axis)
      continue;
    AxisRef digit{static_cast<int64_t>(*axis), 1, mesh.sizeOf(*axis)};
    bool isPart = index + 2 < parts.size() && !parts[index + 1].getAsInteger(10, digit.pre);
    if (isPart)
      parts[index + 2].getAsInteger(10, digit.size);
    digits.push_back(digit);
  }
  return digits;
}

/// The axes of digits, each once.
static std::vector<int64_t> axesOf(llvm::ArrayRef<AxisRef> digits) {
  std::vector<int64_t> axes;
  for (const AxisRef &digit : unionOf(digits))
    if (axes.empty() || axes.back() != digit.axis)
      axes.push_back(digit.axis);
  return axes;
}

bool ClauseCheck::isMeant(StringRef purpose, StringRef communicator) const {
  if (!clause.purpose.empty() && clause.purpose != purpose)
    return false;
  if (clause.axes.empty())
    return true;
  const Mesh &mesh = plan.environment.mesh;
  std::vector<AxisRef> own = digitsOf(communicator, mesh), named = mesh.digitsOf(clause.axes);
  // An axis stands for its digits, too; the name of a fold is about its own.
  bool areAxes = llvm::all_of(clause.axes, [&](size_t number) { return number < mesh.axes.size(); });
  return areAxes ? axesOf(own) == axesOf(named) : unionOf(own) == unionOf(named);
}

std::string ClauseCheck::subject() const {
  std::string text = clause.purpose.empty() ? "communication" : clause.purpose;
  for (size_t index = 0; index < clause.axes.size(); ++index)
    text += (index == 0 ? " over " : ", ") + plan.environment.mesh.nameOf(clause.axes[index]);
  return text;
}

static std::string percentText(double percent) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %%", percent);
  return text;
}

SourceRange ClauseCheck::rangeOf(const PlanLocation &location) const {
  if (location.file.empty() || location.file != diagnostics.sources().buffer(0).name())
    return {};
  return {0, static_cast<int32_t>(location.line), static_cast<int32_t>(location.column),
          static_cast<int32_t>(location.endColumn)};
}

Found ClauseCheck::longestExposed() const {
  Found found;
  for (const ProgramRun &run : step.runs)
    for (const TimedOperation &operation : run.program->operations)
      if (operation.isCollective() && isMeant(operation.label.purpose, operation.label.communicator) &&
          (!found.operation || operation.exposed > found.operation->exposed))
        found = {run.program, &operation};
  return found;
}

/// "aten.mm.default in model.layers.2.mlp.up_proj and 3 other operators": what runs in the window.
static std::string windowText(const ProgramTimes &program, const TimedOperation &collective, int64_t &computed) {
  const TimedOperation *longest = nullptr;
  size_t count = 0;
  computed = 0;
  for (size_t at = collective.windowBegin; at < collective.windowEnd; ++at) {
    const TimedOperation &operation = program.operations[program.computed[at]];
    if (operation.time.length() == 0)
      continue;
    ++count;
    computed += operation.time.length();
    if (!longest || operation.time.length() > longest->time.length())
      longest = &operation;
  }
  if (!longest)
    return "nothing is computed beside it";
  std::string text = "beside it " + timeText(computed) + " are computed: " + trace_form::nameOf(longest->label);
  return count == 1 ? text : text + " and " + std::to_string(count - 1) + " other operators";
}

void ClauseCheck::addWindow(Diagnostic &error) const {
  Found found = longestExposed();
  const TimedOperation &worst = *found.operation;
  int64_t computed = 0;
  std::string window = windowText(*found.program, worst, computed);
  std::string name = trace_form::nameOf(worst.label);
  error.note(rangeOf(worst.location), "'" + name + "' is exposed longest: " + timeText(worst.exposed) + " of " +
                                          timeText(worst.time.length()) + "; " + window);
  error.note({}, computed >= worst.time.length()
                     ? "its window is long enough, but other collectives are in front of it on its lane"
                     : "to hide it, " + timeText(worst.time.length() - computed) +
                           " more of computing would have to be between its start and its wait");
}

void ClauseCheck::report(int64_t allowed, const std::string &problem) {
  Diagnostic &error = diagnostics.error(clause.range, problem);
  addWindow(error);
  error.note({}, "in the step, " + timeText(exposed) + " of " + timeText(time) + " are exposed, and " +
                     timeText(allowed) + " may be");
  error.note({}, "times are estimates for " + clusterText(cluster));
  error.help("let more be computed beside it (more samples or tokens for a rank, smaller units or buckets, more memory "
             "for gathers ahead), send less (fewer axes, narrower types), or lower the clause");
}

void ClauseCheck::reportMissing() {
  std::string groups;
  for (const CollectiveGroup &group : step.groups)
    groups += (groups.empty() ? "" : ", ") + group.purpose + " over " + group.communicator;
  diagnostics.error(clause.range, "the step has no collectives that '" + clause.text + "' is about")
      .help(groups.empty() ? "it has no collectives at all: remove the clause" : "it has collectives of " + groups);
}

void ClauseCheck::run() {
  bool isThere = false;
  for (const CollectiveGroup &group : step.groups) {
    if (!isMeant(group.purpose, group.communicator))
      continue;
    isThere = true;
    time += group.time;
    exposed += group.exposed;
  }
  if (!isThere) {
    if (plan.environment.mesh.worldSize() > 1)
      reportMissing();
    return;
  }
  if (clause.forbids) {
    int64_t allowed = std::llround(clause.exposedSeconds * 1e9);
    if (exposed > allowed)
      report(allowed, subject() + ": " + timeText(exposed) + " are exposed, must be at most " + timeText(allowed));
    return;
  }
  if (time == 0)
    return;
  double hidden = 100 * static_cast<double>(time - exposed) / static_cast<double>(time);
  if (hidden < clause.hiddenPercent)
    report(std::llround((1 - clause.hiddenPercent / 100) * static_cast<double>(time)),
           subject() + ": " + percentText(hidden) + " of the time is hidden, must be at least " +
               percentText(clause.hiddenPercent));
}

void meshplan::checkOverlap(const BoundPlan &plan, const StepTimes &step, const Cluster &cluster,
                            Diagnostics &diagnostics) {
  for (const BoundOverlapClause &clause : plan.overlap)
    ClauseCheck(plan, clause, step, cluster, diagnostics).run();
  bool hasSplittable = llvm::any_of(step.runs, [](const ProgramRun &run) { return run.program->splittable != 0; });
  bool isAlone = llvm::all_of(plan.environment.mesh.axes, [](const auto &axis) { return axis.size == 1; });
  if (plan.split && !hasSplittable && !isAlone)
    diagnostics
        .error(plan.split->range, "nothing can be split: no product is next to a collective of activations that leaves "
                                  "its rows on their rank, with rows for 2 to " +
                                      std::to_string(plan.split->most) + " equal parts")
        .help("rows are the samples of a rank, or the tokens of its only sample unless 'sequence' moves them: state "
              "'rowwise' or 'colwise' for products, change the batch or the number of parts, or remove the clause");
  // Sums over the whole batch, as of its tokens, belong to no module.
  bool hasActivations = llvm::any_of(step.runs, [](const ProgramRun &run) {
    return llvm::any_of(run.program->operations, [](const TimedOperation &operation) {
      return operation.isCollective() && operation.label.purpose == "activations" && !operation.label.module.empty();
    });
  });
  if (plan.halves && !hasActivations && !isAlone)
    diagnostics.error(*plan.halves, "halves hide nothing: no rank waits for activations of another one")
        .help("divide experts over the ranks of the batch, or products over others, or remove the clause");
}
