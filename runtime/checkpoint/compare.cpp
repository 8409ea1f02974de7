//===- compare.cpp - can a program resume from a checkpoint ---------------===//
//
// What a plan may change between a checkpoint and the run that resumes from it:
//
//   in the plan                                 the tensor is
//   the sharding                                read as the new one says; files hold whole tensors
//   modules of a list, stacked or apart         made of the others before the comparison (arrange.h)
//   the dtype of a parameter                    converted from its master weight, or from itself
//   new master weights                          begun as the saved parameters
//   no master weights any more                  not used
//   fewer kinds of optimizer states             not used
//   a parameter that was frozen is trained      given states of zeros, and a step count of its own
//   states that the checkpoint does not have    refused
//   another model                               refused
//
// What is converted, begun or not used becomes a note, because none of it may go unnoticed.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/source.h"

#include "runtime/artifact/sharding.h"
#include "runtime/base/names.h"
#include "runtime/checkpoint/arrange.h"

#include <algorithm>
#include <map>
#include <set>

using namespace meshplan;

namespace {

/// Compares a checkpoint with a program and collects notes for the user.
class Comparison {
public:
  Comparison(const CheckpointSource &source, const artifact::Program &program)
      : path(source.folder()), record(source.record()), source(source), own(recordOf(program, TrainingState{})) {}

  Expected<std::vector<std::string>> run() {
    for (const RecordedParameter &wanted : own.parameters)
      MESHPLAN_RETURN_IF_ERROR(compareParameter(wanted));
    // A program that trains nothing may read a part of the checkpoint.
    bool trains = !own.optimizer.empty();
    for (const RecordedParameter &saved : record.parameters)
      if (trains && !findAny(own, saved.names))
        return foreign("it has parameter '" + saved.names.front() + "', which the plan's model lacks");
    for (const RecordedState &wanted : own.states)
      MESHPLAN_RETURN_IF_ERROR(compareState(wanted));
    if (trains)
      noteUnused();
    if (!begun.empty())
      add("optimizer states of " + nameList(begun) + " start at zero, and " + (begun.size() == 1 ? "its" : "their") +
          " step count starts here: not trained before");
    noteConversions();
    return notes;
  }

private:
  static const RecordedParameter *findAny(const CheckpointRecord &record, std::span<const std::string> names) {
    for (const std::string &name : names)
      if (const RecordedParameter *found = record.findParameter(name))
        return found;
    return nullptr;
  }

  Status foreign(const std::string &why) const { return otherModel(path, why); }

  Status compareParameter(const RecordedParameter &wanted) {
    // A tied parameter may be saved under any of its names.
    const RecordedParameter *saved = findAny(record, wanted.names);
    if (!saved)
      return foreign("it has no parameter '" + wanted.names.front() + "'");
    if (saved->shape != wanted.shape)
      return foreign("parameter '" + wanted.names.front() + "' is " + shapeText(saved->shape) + ", " +
                     shapeText(wanted.shape) + " required");
    // Conversion between floats is lossy but meaningful; any other change of dtype is another model.
    if (isFloat(saved->dtype) != isFloat(wanted.dtype) || (!isFloat(wanted.dtype) && saved->dtype != wanted.dtype))
      return foreign("parameter '" + wanted.names.front() + "' is " + std::string(dtypeName(saved->dtype)) + ", " +
                     std::string(dtypeName(wanted.dtype)) + " required");
    if (saved->dtype != wanted.dtype)
      addConversion(source.masterOf(*saved) ? source.masterOf(*saved)->dtype : saved->dtype, wanted.dtype);
    return Status();
  }

  /// "exp_avg, exp_avg_sq"; "none".
  static std::string kindsOf(const CheckpointRecord &record) {
    std::set<std::string> kinds;
    std::string text;
    for (const RecordedState &state : record.states)
      if (!state.isMaster && kinds.insert(state.kind()).second)
        text += (text.empty() ? "" : ", ") + state.kind();
    return text.empty() ? "none" : text;
  }

  static std::string describeOptimizer(const CheckpointRecord &record) {
    return (record.optimizer.empty() ? "no optimizer" : record.optimizer) + " (states: " + kindsOf(record) + ")";
  }

  Status compareState(const RecordedState &wanted) {
    const RecordedState *saved = record.findState(wanted.name);
    if (saved && saved->shape == wanted.shape) {
      if (saved->dtype != wanted.dtype)
        addConversion(saved->dtype, wanted.dtype);
      return Status();
    }
    // A plan may add master weights later: they begin as the saved parameters.
    if (wanted.isMaster) {
      const RecordedParameter &parameter = *record.findParameter(wanted.parameter);
      add("the checkpoint has no master weights: they start as its parameters, of " +
          std::string(dtypeName(parameter.dtype)));
      return Status();
    }
    // The same optimizer with a parameter that was frozen before: its states begin now.
    bool isSame = record.optimizer == own.optimizer && kindsOf(record) == kindsOf(own);
    if (const RecordedParameter *saved = record.findParameter(wanted.parameter); isSame && !saved->isTrained) {
      if (std::ranges::find(begun, wanted.parameter) == begun.end())
        begun.push_back(wanted.parameter);
      return Status();
    }
    return Status(StatusCode::invalid, path + ": it was saved by " + describeOptimizer(record) + ", the plan has " +
                                           describeOptimizer(own) +
                                           "; help: keep the optimizer, or start a new training from what "
                                           "`meshplan-run export " +
                                           path + "` writes");
  }

  void noteUnused() {
    std::map<std::string, std::vector<std::string>> unused; // parameters, by kind of state
    bool hasMasters = false;
    for (const RecordedState &saved : record.states)
      // Dropping states silently would hide that the optimizer starts without its averages.
      if (!own.findState(saved.name)) {
        if (saved.isMaster)
          hasMasters |= isTakenFromParameter(saved);
        else
          unused[saved.kind()].push_back(saved.parameter);
      }
    for (const auto &[kind, parameters] : unused)
      add("optimizer states '" + kind + "' of the checkpoint are not used for " + nameList(parameters));
    if (hasMasters)
      add("master weights of the checkpoint are not used: the plan keeps none");
  }

  /// True if the parameter is read from the checkpoint's parameter. Else it is converted from the master weight.
  bool isTakenFromParameter(const RecordedState &master) const {
    const RecordedParameter *saved = record.findParameter(master.parameter), *wanted = findAny(own, saved->names);
    return wanted && saved->dtype == wanted->dtype;
  }

  void addConversion(DType from, DType to) {
    if (from != to)
      conversions.emplace(from, to);
  }

  void noteConversions() {
    for (auto [from, to] : conversions)
      add("tensors of " + std::string(dtypeName(from)) + " are converted to " + std::string(dtypeName(to)));
  }

  void add(const std::string &note) {
    if (std::ranges::find(notes, note) == notes.end())
      notes.push_back(note);
  }

  const std::string &path;
  const CheckpointRecord &record;
  const CheckpointSource &source;
  CheckpointRecord own;
  std::set<std::pair<DType, DType>> conversions;
  std::vector<std::string> notes;
  std::vector<std::string> begun; ///< parameters whose optimizer states begin at zeros
};

} // namespace

/// Example: a training has taken 100 steps, of which 4 changed nothing, and now also trains a parameter that was
/// frozen. Its states begin at 96, so the optimizer counts its next step as number 1 and the one of all others as
/// number 97. A later checkpoint records the 96, so that a second resumption continues the same count.
std::vector<std::pair<std::string, int64_t>> meshplan::begunParameters(const CheckpointSource &source,
                                                                       const artifact::Program &program) {
  const CheckpointRecord &record = source.record();
  std::map<std::string, int64_t> begun;
  for (const RecordedState &state : recordOf(program, TrainingState{}).states) {
    const RecordedState *saved = state.isMaster ? nullptr : record.findState(state.name);
    auto earlier = std::ranges::find_if(record.state.begun,
                                        [&](const auto &each) { return saved && each.first == saved->parameter; });
    if (earlier != record.state.begun.end())
      // The count continues from the step at which this parameter's states began, in an earlier run.
      begun[state.parameter] = earlier->second;
    else if (!saved && !state.isMaster)
      // Optimizers count only steps that changed something.
      begun[state.parameter] = record.state.counters.steps - record.state.counters.skipped;
  }
  return {begun.begin(), begun.end()};
}

Expected<std::vector<std::string>> meshplan::checkCheckpoint(const CheckpointSource &source,
                                                             const artifact::Program &program) {
  return Comparison(source, program).run();
}
