//===- report_diff.cpp - differences between two plans --------------------===//

#include "compiler/report/diff/report_diff.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace meshplan;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// One model or two
//===----------------------------------------------------------------------===//

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t extent : shape)
    text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  return text + "]";
}

static llvm::StringMap<const ParameterReport *> byName(const Report &report) {
  llvm::StringMap<const ParameterReport *> parameters;
  for (const ParameterReport &parameter : report.parameters)
    parameters[parameter.names.front()] = &parameter;
  return parameters;
}

std::vector<std::string> meshplan::modelDifferences(const Report &before, const Report &after, StringRef beforeName,
                                                    StringRef afterName) {
  std::vector<std::string> differences;
  auto only = [&](const ParameterReport &parameter, StringRef where) {
    differences.push_back("'" + parameter.names.front() + "' is a parameter of the model of " + where.str() + " only");
  };
  llvm::StringMap<const ParameterReport *> first = byName(before), second = byName(after);
  for (const ParameterReport &parameter : before.parameters) {
    const ParameterReport *other = second.lookup(parameter.names.front());
    if (!other)
      only(parameter, beforeName);
    else if (other->shape != parameter.shape)
      differences.push_back("'" + parameter.names.front() + "' is " + shapeText(parameter.shape) + " in the model of " +
                            beforeName.str() + " and " + shapeText(other->shape) + " in that of " + afterName.str());
  }
  for (const ParameterReport &parameter : after.parameters)
    if (!first.contains(parameter.names.front()))
      only(parameter, afterName);
  return differences;
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static std::vector<AxisChange> compareAxes(const Report &before, const Report &after) {
  std::vector<AxisChange> axes;
  for (const AxisReport &axis : before.axes)
    axes.push_back({axis.name, {axis.size, 0}});
  for (const AxisReport &axis : after.axes) {
    auto known = llvm::find_if(axes, [&](const AxisChange &each) { return each.name == axis.name; });
    if (known == axes.end())
      axes.push_back({axis.name, {0, axis.size}});
    else
      known->size.after = axis.size;
  }
  return axes;
}

/// Adds a parameter to the change of its equal layers, or begins a new change.
static void addChange(std::vector<ParameterChange> &changes, std::map<std::string, size_t> &known,
                      const ParameterReport &before, const ParameterReport &after) {
  std::string name = before.names.front(), layers = withoutIndices(name);
  std::string key = layers + ' ' + before.dtype + before.layout + ' ' + after.dtype + after.layout;
  auto [entry, inserted] = known.try_emplace(key, changes.size());
  if (inserted)
    changes.push_back({name, 0, {before.dtype, after.dtype}, {before.layout, after.layout}, {}});
  ParameterChange &change = changes[entry->second];
  if (++change.count > 1)
    change.name = layers;
  change.rankBytes.before += before.rankBytes;
  change.rankBytes.after += after.rankBytes;
}

static void compareParameters(const Report &before, const Report &after, ReportDiff &diff) {
  llvm::StringMap<const ParameterReport *> others = byName(after);
  std::map<std::string, size_t> known;
  for (const ParameterReport &parameter : before.parameters) {
    const ParameterReport *other = others.lookup(parameter.names.front());
    // Bytes are compared as well: '[96 over tp]' reads the same for tp=2 and tp=3.
    bool isSame = other && other->dtype == parameter.dtype && other->layout == parameter.layout &&
                  other->rankBytes == parameter.rankBytes;
    if (isSame)
      ++diff.sameParameters;
    else if (other)
      addChange(diff.parameters, known, parameter, *other);
  }
}

static std::vector<CollectiveChange> compareCollectives(const Report &before, const Report &after,
                                                        const std::vector<AxisChange> &axes) {
  std::vector<CollectiveChange> changes;
  auto add = [&](const Report &report, StringRef name, auto assign) {
    auto axis = llvm::find_if(report.axes, [&](const AxisReport &each) { return each.name == name; });
    if (axis == report.axes.end())
      return;
    for (const CollectiveTotal &total : axis->collectives) {
      auto isSame = [&](const CollectiveChange &each) { return each.axis == name && each.kind == total.kind; };
      auto known = llvm::find_if(changes, isSame);
      if (known == changes.end())
        known = changes.insert(changes.end(), {name.str(), total.kind, {}, {}});
      assign(*known, total);
    }
  };
  for (const AxisChange &axis : axes) {
    add(before, axis.name, [](CollectiveChange &change, const CollectiveTotal &total) {
      change.count.before = total.count, change.bytes.before = total.bytes;
    });
    add(after, axis.name, [](CollectiveChange &change, const CollectiveTotal &total) {
      change.count.after = total.count, change.bytes.after = total.bytes;
    });
  }
  llvm::erase_if(changes, [](const CollectiveChange &each) { return each.count.isSame() && each.bytes.isSame(); });
  return changes;
}

ReportDiff meshplan::compareReports(const Report &before, const Report &after) {
  ReportDiff diff;
  diff.axes = compareAxes(before, after);
  diff.worldSize = {before.worldSize, after.worldSize};
  diff.settings = compareSettings(before.settings, after.settings);
  diff.modelParameters = before.settings.parameters;
  compareParameters(before, after, diff);
  diff.collectives = compareCollectives(before, after, diff.axes);
  diff.parameterBytes = {before.memory.parameters.largest, after.memory.parameters.largest};
  diff.constantBytes = {before.memory.constants.largest, after.memory.constants.largest};
  diff.inputBytes = {before.memory.inputs.largest, after.memory.inputs.largest};
  diff.stateBytes = {before.memory.states.largest, after.memory.states.largest};
  diff.peakBytes = {before.memory.peak.largest, after.memory.peak.largest};
  diff.hostPeakBytes = {before.memory.hostPeak, after.memory.hostPeak};
  diff.machine = before.machine;
  diff.computeTime = {before.time.compute, after.time.compute};
  diff.communicationTime = {before.time.communication, after.time.communication};
  diff.copyTime = {before.time.copies, after.time.copies};
  diff.exposedTime = {before.time.exposed, after.time.exposed};
  diff.exposedCopyTime = {before.time.exposedCopies, after.time.exposedCopies};
  diff.hostWaitTime = {before.time.waitsForHost, after.time.waitsForHost};
  diff.stepTime = {before.time.step, after.time.step};
  return diff;
}
