//===- explanation_json.cpp - an explanation with stable keys -------------===//

#include "compiler/report/explain/explanation.h"

using namespace meshplan;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

/// Turns the structs into values; knows the files of their places.
class JsonWriter {
public:
  explicit JsonWriter(const Sources &sources) : sources(sources) {}

  Value toJson(const Explanation &explanation) const;

private:
  Value toJson(const Statement &statement) const;
  Value toJson(const AxisName &axis) const { return Object{{"name", axis.name}, {"size", axis.size}}; }
  Value toJson(const DimExplanation &dim) const;
  Value toJson(const TensorExplanation &tensor) const;
  Value toJson(const End &end) const;
  Value toJson(const StepExplanation &step) const;
  Value toJson(const ReshardExplanation &reshard) const;
  Value toJson(const MemberExplanation &member) const;
  Value toJson(const TrainingExplanation &training) const;

  template <typename T> Array list(const std::vector<T> &items) const {
    Array array;
    for (const T &item : items)
      array.push_back(toJson(item));
    return array;
  }

  const Sources &sources;
};

} // namespace

/// Null where nothing in the plan says so.
Value JsonWriter::toJson(const Statement &statement) const {
  if (!statement.range.hasLine())
    return nullptr;
  return Object{{"file", llvm::json::fixUTF8(sources.buffer(statement.range.file).name())},
                {"line", statement.range.line},
                {"column", statement.range.column},
                {"text", statement.text}};
}

Value JsonWriter::toJson(const DimExplanation &dim) const {
  return Object{{"extent", dim.extent},
                {"axes", list(dim.axes)},
                {"reasons", list(dim.reasons)},
                {"local_extents", Array(dim.localExtent)}};
}

Value JsonWriter::toJson(const TensorExplanation &tensor) const {
  Value partial = nullptr, flat = nullptr;
  if (tensor.partial)
    partial = Object{{"reduction", tensor.partial->reduction},
                     {"axes", list(tensor.partial->axes)},
                     {"reasons", list(tensor.partial->reasons)}};
  if (tensor.flat)
    flat = Object{{"axes", list(tensor.flat->axes)},
                  {"reasons", list(tensor.flat->reasons)},
                  {"elements", tensor.flat->elements},
                  {"piece", tensor.flat->piece}};
  return Object{{"dtype", tensor.dtype},         {"layout", tensor.layout}, {"dims", list(tensor.dims)},
                {"partial", std::move(partial)}, {"flat", std::move(flat)}, {"global_bytes", tensor.globalBytes},
                {"rank_bytes", tensor.rankBytes}};
}

Value JsonWriter::toJson(const End &end) const {
  return Object{{"what", end.what}, {"name", end.name}, {"layout", end.layout}};
}

Value JsonWriter::toJson(const StepExplanation &step) const {
  return Object{{"kind", step.kind}, {"axes", list(step.axes)}, {"bytes", step.bytes}};
}

Value JsonWriter::toJson(const ReshardExplanation &reshard) const {
  return Object{{"producer", toJson(reshard.producer)}, {"consumers", list(reshard.consumers)},
                {"steps", list(reshard.steps)},         {"statement", toJson(reshard.statement)},
                {"needs", list(reshard.needs)},         {"count", reshard.count}};
}

Value JsonWriter::toJson(const MemberExplanation &member) const {
  return Object{{"name", member.name},
                {"tensor", toJson(member.tensor)},
                {"statement", toJson(member.statement)},
                {"count", member.count},
                {"ends", list(member.ends)}};
}

Value JsonWriter::toJson(const TrainingExplanation &training) const {
  return Object{{"gradient", training.gradient ? toJson(*training.gradient) : nullptr},
                {"states", list(training.states)},
                {"reshards", list(training.reshards)}};
}

Value JsonWriter::toJson(const Explanation &explanation) const {
  auto optional = [&](const std::optional<TensorExplanation> &tensor) { return tensor ? toJson(*tensor) : nullptr; };
  Value loss = nullptr;
  if (explanation.loss)
    loss = Object{{"statement", toJson(explanation.loss->statement)}, {"meaning", explanation.loss->meaning}};
  return Object{{"kind", explanation.kind},
                {"path", explanation.path},
                {"names", Array(explanation.names)},
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

Value meshplan::explanationToJson(const Explanation &explanation, const Sources &sources) {
  return JsonWriter(sources).toJson(explanation);
}
