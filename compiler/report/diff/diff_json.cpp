//===- diff_json.cpp - differences with stable keys -----------------------===//

#include "compiler/report/diff/report_diff.h"

using namespace meshplan;
namespace json = llvm::json;

template <typename T> static json::Value toJson(const Change<T> &change) {
  return json::Object{{"before", change.before}, {"after", change.after}};
}

/// Null for an empty text.
static json::Value toJson(const Change<std::string> &change, json::Value (*write)(const std::string &)) {
  return json::Object{{"before", change.before.empty() ? json::Value(nullptr) : write(change.before)},
                      {"after", change.after.empty() ? json::Value(nullptr) : write(change.after)}};
}

static json::Value toJson(const SettingChange &change) {
  static constexpr const char *kinds[] = {"run", "parameter", "module"};
  auto text = [](const std::string &each) { return json::Value(json::fixUTF8(each)); };
  json::Array subjects;
  for (const std::string &subject : change.subjects)
    subjects.push_back(text(subject));
  return json::Object{{"name", text(change.name)},
                      {"of", kinds[static_cast<size_t>(change.of)]},
                      {"subjects", std::move(subjects)},
                      {"value", toJson(change.value, text)},
                      {"place", toJson(change.location, text)}};
}

static json::Value toJson(const AxisChange &axis) {
  return json::Object{{"name", axis.name}, {"size", toJson(axis.size)}};
}

static json::Value toJson(const ParameterChange &change) {
  return json::Object{{"name", change.name},
                      {"count", change.count},
                      {"dtype", toJson(change.dtype)},
                      {"layout", toJson(change.layout)},
                      {"rank_bytes", toJson(change.rankBytes)}};
}

static json::Value toJson(const CollectiveChange &change) {
  return json::Object{
      {"axis", change.axis}, {"kind", change.kind}, {"count", toJson(change.count)}, {"bytes", toJson(change.bytes)}};
}

template <typename T> static json::Array toJsonArray(const std::vector<T> &list) {
  json::Array array;
  for (const T &item : list)
    array.push_back(toJson(item));
  return array;
}

json::Value meshplan::diffToJson(const ReportDiff &diff) {
  return json::Object{{"axes", toJsonArray(diff.axes)},
                      {"world_size", toJson(diff.worldSize)},
                      {"settings", toJsonArray(diff.settings)},
                      {"parameters", toJsonArray(diff.parameters)},
                      {"same_parameters", diff.sameParameters},
                      {"collectives", toJsonArray(diff.collectives)},
                      {"memory", json::Object{{"parameters", toJson(diff.parameterBytes)},
                                              {"constants", toJson(diff.constantBytes)},
                                              {"inputs", toJson(diff.inputBytes)},
                                              {"states", toJson(diff.stateBytes)},
                                              {"peak", toJson(diff.peakBytes)},
                                              {"host_peak", toJson(diff.hostPeakBytes)}}},
                      {"machine", diff.machine.name.empty() ? json::Value(nullptr) : json::fixUTF8(diff.machine.name)},
                      {"time", json::Object{{"compute_ns", toJson(diff.computeTime)},
                                            {"communication_ns", toJson(diff.communicationTime)},
                                            {"copies_ns", toJson(diff.copyTime)},
                                            {"exposed_ns", toJson(diff.exposedTime)},
                                            {"exposed_copies_ns", toJson(diff.exposedCopyTime)},
                                            {"waits_for_host_ns", toJson(diff.hostWaitTime)},
                                            {"step_ns", toJson(diff.stepTime)}}}};
}
