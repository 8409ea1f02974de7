//===- diff_json.cpp - differences with stable keys -----------------------===//

#include "compiler/report/diff/report_diff.h"

using namespace meshplan;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

template <typename T> static Value toJson(const Change<T> &change) {
  return Object{{"before", change.before}, {"after", change.after}};
}

/// Null for none.
static Value toJson(const Change<std::string> &change, Value (*write)(const std::string &)) {
  return Object{{"before", change.before.empty() ? Value(nullptr) : write(change.before)},
                {"after", change.after.empty() ? Value(nullptr) : write(change.after)}};
}

static Value toJson(const SettingChange &change) {
  static constexpr const char *kinds[] = {"run", "parameter", "module"};
  auto text = [](const std::string &each) { return Value(llvm::json::fixUTF8(each)); };
  Array subjects;
  for (const std::string &subject : change.subjects)
    subjects.push_back(text(subject));
  return Object{{"name", text(change.name)},
                {"of", kinds[static_cast<size_t>(change.of)]},
                {"subjects", std::move(subjects)},
                {"value", toJson(change.value, text)},
                {"place", toJson(change.place, text)}};
}

static Value toJson(const AxisChange &axis) { return Object{{"name", axis.name}, {"size", toJson(axis.size)}}; }

static Value toJson(const ParameterChange &change) {
  return Object{{"name", change.name},
                {"count", change.count},
                {"dtype", toJson(change.dtype)},
                {"layout", toJson(change.layout)},
                {"rank_bytes", toJson(change.rankBytes)}};
}

static Value toJson(const CollectiveChange &change) {
  return Object{
      {"axis", change.axis}, {"kind", change.kind}, {"count", toJson(change.count)}, {"bytes", toJson(change.bytes)}};
}

template <typename T> static Array toJsonArray(const std::vector<T> &list) {
  Array array;
  for (const T &item : list)
    array.push_back(toJson(item));
  return array;
}

Value meshplan::diffToJson(const ReportDiff &diff) {
  return Object{
      {"axes", toJsonArray(diff.axes)},
      {"world_size", toJson(diff.worldSize)},
      {"settings", toJsonArray(diff.settings)},
      {"parameters", toJsonArray(diff.parameters)},
      {"same_parameters", diff.sameParameters},
      {"collectives", toJsonArray(diff.collectives)},
      {"memory", Object{{"parameters", toJson(diff.parameterBytes)},
                        {"constants", toJson(diff.constantBytes)},
                        {"inputs", toJson(diff.inputBytes)},
                        {"states", toJson(diff.stateBytes)},
                        {"peak", toJson(diff.peakBytes)},
                        {"host_peak", toJson(diff.hostPeakBytes)}}},
      {"time", Object{{"compute_ns", toJson(diff.computeTime)}, {"communication_ns", toJson(diff.communicationTime)}}}};
}
