//===- record.cpp - the file checkpoint.json ------------------------------===//

#include "runtime/checkpoint/record.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/base/hash.h"
#include "runtime/base/names.h"
#include "runtime/checkpoint/adapters.h"

#include <algorithm>
#include <set>

using namespace meshplan;

const RecordedParameter *CheckpointRecord::findParameter(std::string_view name) const {
  auto found = std::ranges::find_if(parameters, [&](const RecordedParameter &each) {
    return std::ranges::find(each.names, name) != each.names.end();
  });
  return found == parameters.end() ? nullptr : &*found;
}

static const RecordedState *findByName(std::span<const RecordedState> states, std::string_view name) {
  auto found = std::ranges::find(states, name, &RecordedState::name);
  return found == states.end() ? nullptr : &*found;
}

const RecordedState *CheckpointRecord::findState(std::string_view name) const {
  if (const RecordedState *own = findByName(states, name))
    return own;
  // A tied parameter may have another first name in the program that resumes.
  for (const RecordedParameter &parameter : parameters)
    for (size_t i = 1; i < parameter.names.size(); ++i)
      if (name.starts_with(parameter.names[i] + "."))
        return findByName(states, parameter.names.front() + std::string(name.substr(parameter.names[i].size())));
  return nullptr;
}

bool CheckpointRecord::savesAll() const { return std::ranges::all_of(parameters, &RecordedParameter::isSaved); }

std::vector<TensorSpec> CheckpointRecord::modelSpecs() const {
  std::vector<TensorSpec> specs;
  for (const RecordedParameter &each : parameters)
    if (each.isSaved)
      specs.push_back({each.names.front(), each.dtype, each.shape});
  return specs;
}

std::vector<TensorSpec> CheckpointRecord::optimizerSpecs() const {
  std::vector<TensorSpec> specs;
  for (const RecordedState &each : states)
    specs.push_back({each.name, each.dtype, each.shape});
  return specs;
}

std::vector<CheckpointFile> CheckpointRecord::files() const {
  return {{modelName, modelSpecs()}, {optimizerName, optimizerSpecs()}};
}

std::string meshplan::optimizerOf(const artifact::Program &program) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *call = instruction->action_as_Compute();
    // Recognized by its arguments, so that a new optimizer needs no change here.
    if (!call || !findArg(*call, "learning_rate") || !findArg(*call, "gradient"))
      continue;
    std::string target = call->target()->str(), name = target.substr(target.find('.') + 1);
    if (name == "sgd_momentum")
      return "sgd";
    const artifact::Arg *decoupled = findArg(*call, "decoupled");
    return name + (decoupled && decoupled->bools() && decoupled->bools()->Get(0) ? "w" : "");
  }
  return "";
}

/// Tables and masks are small and are saved with each checkpoint. A larger buffer is a weight that the model keeps as a
/// buffer.
static constexpr int64_t mostSavedBuffer = int64_t(64) << 20;

/// Values that a step updates.
static std::set<int32_t> changedBy(const artifact::Program &program) {
  std::set<int32_t> targets;
  for (const artifact::Update &update : elementsOf(program.updates()))
    targets.insert(update.target());
  return targets;
}

CheckpointRecord meshplan::recordOf(const artifact::Program &program, const TrainingState &state) {
  CheckpointRecord record{.state = state, .optimizer = optimizerOf(program)};
  std::set<int32_t> changed = changedBy(program);
  for (const artifact::Parameter &parameter : elementsOf(program.parameters())) {
    const artifact::Value &value = *program.values()->Get(parameter.value());
    std::vector<std::string> names = namesOf(parameter);
    // Without a path of the initial weights everything is saved. With one, only tensors that may differ from these
    // weights are, and small buffers.
    bool isSaved = state.weights.empty() || parameter.trainable() || changed.contains(parameter.value()) ||
                   isAdapter(names.front()) || (parameter.buffer() && globalBytesOf(value) <= mostSavedBuffer) ||
                   std::ranges::any_of(names, [&](const std::string &name) { return state.saved.contains(name); });
    record.parameters.push_back({std::move(names), dtypeOf(value.dtype()), globalShapeOf(value), isSaved,
                                 parameter.trainable(), weightPiecesOf(parameter)});
  }
  for (const artifact::State &each : elementsOf(program.states())) {
    const artifact::Value &value = *program.values()->Get(each.value());
    record.states.push_back({.name = each.name()->str(),
                             .parameter = each.parameter()->str(),
                             .dtype = dtypeOf(value.dtype()),
                             .shape = globalShapeOf(value),
                             .isMaster = each.copies()});
  }
  return record;
}

std::string meshplan::fingerprintOf(const TensorSource &weights) {
  // Weights of another training differ in nearly every tensor, so samples find them. Reading everything would take as
  // long as loading the model.
  constexpr size_t sample = 4096;
  std::string text;
  for (const std::string &name : weights.names()) {
    const StoredTensor &tensor = *weights.find(name);
    text += name + " " + std::string(dtypeName(tensor.dtype)) + shapeText(tensor.shape) + shapeText(tensor.strides);
    std::span<const std::byte> bytes = tensor.payload->mapped();
    size_t size = std::min(sample, bytes.size());
    for (std::span<const std::byte> part : {bytes.first(size), bytes.last(size)})
      text.append(reinterpret_cast<const char *>(part.data()), part.size());
  }
  return toHexadecimal(hashBytes(std::as_bytes(std::span(text))));
}
