//===- explanation_json.cpp - an explanation with stable keys -------------===//

#include "compiler/report/explain/explanation.h"

using namespace meshplan;
namespace json = llvm::json;

namespace {

/// Turns the structs into JSON; knows the files of their ranges.
class JsonWriter {
public:
  explicit JsonWriter(const Sources &sources) : sources(sources) {}

  json::Value toJson(const Explanation &explanation) const;

private:
  json::Value toJson(const Statement &statement) const;
  json::Value toJson(const AxisName &axis) const { return json::Object{{"name", axis.name}, {"size", axis.size}}; }
  json::Value toJson(const DimExplanation &dim) const;
  json::Value toJson(const TensorExplanation &tensor) const;
  json::Value toJson(const End &end) const;
  json::Value toJson(const StepExplanation &step) const;
  json::Value toJson(const ReshardExplanation &reshard) const;
  json::Value toJson(const MemberExplanation &member) const;
  json::Value toJson(const TrainingExplanation &training) const;

  template <typename T> json::Array list(const std::vector<T> &items) const {
    json::Array array;
    for (const T &item : items)
      array.push_back(toJson(item));
    return array;
  }

  const Sources &sources;
};

} // namespace

/// Null if no statement is known.
json::Value JsonWriter::toJson(const Statement &statement) const {
  if (!statement.range.hasLine())
    return nullptr;
  return json::Object{{"file", json::fixUTF8(sources.buffer(statement.range.file).name())},
                      {"line", statement.range.line},
                      {"column", statement.range.column},
                      {"text", statement.text}};
}

json::Value JsonWriter::toJson(const DimExplanation &dim) const {
  return json::Object{{"extent", dim.extent},
                      {"axes", list(dim.axes)},
                      {"reasons", list(dim.reasons)},
                      {"local_extents", json::Array(dim.localExtent)}};
}

json::Value JsonWriter::toJson(const TensorExplanation &tensor) const {
  json::Value partial = nullptr, flat = nullptr;
  if (tensor.partial)
    partial = json::Object{{"reduction", tensor.partial->reduction},
                           {"axes", list(tensor.partial->axes)},
                           {"reasons", list(tensor.partial->reasons)}};
  if (tensor.flat)
    flat = json::Object{{"axes", list(tensor.flat->axes)},
                        {"reasons", list(tensor.flat->reasons)},
                        {"elements", tensor.flat->elements},
                        {"piece", tensor.flat->piece}};
  return json::Object{{"dtype", tensor.dtype},         {"layout", tensor.layout}, {"dims", list(tensor.dims)},
                      {"partial", std::move(partial)}, {"flat", std::move(flat)}, {"global_bytes", tensor.globalBytes},
                      {"rank_bytes", tensor.rankBytes}};
}

json::Value JsonWriter::toJson(const End &end) const {
  return json::Object{{"what", end.what}, {"name", end.name}, {"layout", end.layout}};
}

json::Value JsonWriter::toJson(const StepExplanation &step) const {
  return json::Object{{"kind", step.kind}, {"axes", list(step.axes)}, {"bytes", step.bytes}};
}

json::Value JsonWriter::toJson(const ReshardExplanation &reshard) const {
  return json::Object{{"producer", toJson(reshard.producer)}, {"consumers", list(reshard.consumers)},
                      {"steps", list(reshard.steps)},         {"statement", toJson(reshard.statement)},
                      {"needs", list(reshard.needs)},         {"count", reshard.count}};
}

json::Value JsonWriter::toJson(const MemberExplanation &member) const {
  return json::Object{{"name", member.name},
                      {"tensor", toJson(member.tensor)},
                      {"statement", toJson(member.statement)},
                      {"count", member.count},
                      {"ends", list(member.ends)}};
}

json::Value JsonWriter::toJson(const TrainingExplanation &training) const {
  return json::Object{{"gradient", training.gradient ? toJson(*training.gradient) : nullptr},
                      {"states", list(training.states)},
                      {"reshards", list(training.reshards)}};
}

json::Value JsonWriter::toJson(const Explanation &explanation) const {
  auto optional = [&](const std::optional<TensorExplanation> &tensor) { return tensor ? toJson(*tensor) : nullptr; };
  json::Value loss = nullptr;
  if (explanation.loss)
    loss = json::Object{{"statement", toJson(explanation.loss->statement)}, {"meaning", explanation.loss->meaning}};
  return json::Object{{"kind", explanation.kind},
                      {"path", explanation.path},
                      {"names", json::Array(explanation.names)},
                      {"tensor", optional(explanation.tensor)},
                      {"arrives", optional(explanation.arrives)},
                      {"statement", toJson(explanation.statement)},
                      {"ends", list(explanation.ends)},
                      {"parameters", list(explanation.parameters)},
                      {"inputs", list(explanation.inputs)},
                      {"outputs", list(explanation.outputs)},
                      {"loss", std::move(loss)},
                      {"reshards", list(explanation.reshards)},
                      {"training", explanation.training ? toJson(*explanation.training) : nullptr}};
}

json::Value meshplan::explanationToJson(const Explanation &explanation, const Sources &sources) {
  return JsonWriter(sources).toJson(explanation);
}
