//===- arrange.cpp - parameters of modules, apart and stacked -------------===//
//
// First, stacks of the checkpoint that the program does not have are divided; then those of the program that the
// checkpoint does not have are made. So a stack may also become another one, of the same tensors of weight files.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/arrange.h"

#include "runtime/base/names.h"

#include <algorithm>
#include <map>

using namespace meshplan;

Status meshplan::otherModel(const std::string &path, const std::string &why) {
  return Status(StatusCode::invalid, path + ": the checkpoint is of a different model: " + why +
                                         "; help: name a checkpoint of this model, or start a new training in "
                                         "another folder");
}

static bool isStack(const RecordedParameter &parameter) { return parameter.pieces && parameter.pieces->count > 0; }

namespace {

/// Finds parameters by their own names and by those of weight files.
class NameIndex {
public:
  explicit NameIndex(std::span<const RecordedParameter> parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      for (const std::string &name : parameters[i].names)
        own.emplace(name, i);
      if (parameters[i].pieces)
        for (const WeightPiece &piece : piecesOf(*parameters[i].pieces, parameters[i].shape))
          inFiles.emplace(piece.name, i);
    }
  }

  bool hasAny(std::span<const std::string> names) const {
    return std::ranges::any_of(names, [&](const std::string &name) { return own.contains(name); });
  }

  std::optional<size_t> find(const std::string &name) const {
    for (const auto *map : {&own, &inFiles})
      if (auto found = map->find(name); found != map->end())
        return found->second;
    return std::nullopt;
  }

private:
  std::map<std::string, size_t, std::less<>> own, inFiles;
};

/// The pieces of a stack that is divided for `wanted`; none if it stays.
std::vector<WeightPiece> dividedPieces(const RecordedParameter &stack, const NameIndex &wanted) {
  if (!isStack(stack) || wanted.hasAny(stack.names))
    return {};
  std::vector<WeightPiece> pieces = piecesOf(*stack.pieces, stack.shape);
  bool isWanted =
      std::ranges::any_of(pieces, [&](const WeightPiece &piece) { return wanted.find(piece.name).has_value(); });
  return isWanted ? pieces : std::vector<WeightPiece>();
}

/// The pieces as tensors that these parameters, or their states of a kind, are.
std::vector<WeightPiece> renamed(std::vector<WeightPiece> pieces, std::span<const RecordedParameter> parameters,
                                 const std::string &kind = "") {
  for (size_t i = 0; i < pieces.size(); ++i)
    pieces[i].name = parameters[i].names.front() + (kind.empty() ? "" : "." + kind);
  return pieces;
}

class Arrangement {
public:
  Arrangement(const CheckpointTensors &tensors, const std::string &path, const artifact::Program &program);

  Status run();

private:
  void divide();
  std::vector<RecordedParameter> partsOf(const RecordedParameter &whole, const std::vector<WeightPiece> &pieces);
  Status stack();
  Status checkComplete(const RecordedParameter &wanted, std::span<const WeightPiece> pieces,
                       std::span<const size_t> positions, const NameIndex &saved) const;
  Status makeStack(const RecordedParameter &wanted, const std::vector<WeightPiece> &pieces,
                   std::span<const size_t> positions, std::vector<std::optional<RecordedParameter>> &arranged);
  Status checkPart(const RecordedParameter &wanted, const RecordedParameter &first, const RecordedParameter &part,
                   const WeightPiece &piece);
  void addState(const RecordedParameter &parameter, const RecordedState &like, std::span<const int64_t> shape);
  std::string textOf(const RecordedParameter &parameter);
  void finish();

  const std::string &path;
  CheckpointRecord &record;
  TensorSource &model;
  TensorSource *optimizer;
  std::vector<RecordedParameter> own; ///< of the program
  NameIndex ownNames;
  std::map<std::string, std::vector<RecordedState>> states; ///< by parameter, with an element for each of its own
  std::vector<RecordedState> others;
  std::map<std::string, int64_t> begun;
  bool isChanged = false;
};

} // namespace

Arrangement::Arrangement(const CheckpointTensors &tensors, const std::string &path, const artifact::Program &program)
    : path(path), record(tensors.record), model(tensors.model), optimizer(tensors.optimizer),
      own(recordOf(program, TrainingState{}).parameters), ownNames(own) {
  NameIndex saved(record.parameters);
  for (const RecordedState &state : record.states) {
    std::optional<size_t> parameter = saved.find(state.parameter);
    bool isElementwise = parameter && record.parameters[*parameter].shape == state.shape;
    (isElementwise ? states[state.parameter] : others).push_back(state);
  }
  begun.insert(record.state.begun.begin(), record.state.begun.end());
}

Status Arrangement::run() {
  divide();
  MESHPLAN_RETURN_IF_ERROR(stack());
  if (isChanged)
    finish();
  return Status();
}

void Arrangement::divide() {
  std::vector<RecordedParameter> divided;
  for (RecordedParameter &saved : record.parameters) {
    std::vector<WeightPiece> pieces = dividedPieces(saved, ownNames);
    if (pieces.empty())
      divided.push_back(std::move(saved));
    else
      std::ranges::move(partsOf(saved, pieces), std::back_inserter(divided));
  }
  record.parameters = std::move(divided);
}

std::vector<RecordedParameter> Arrangement::partsOf(const RecordedParameter &whole,
                                                    const std::vector<WeightPiece> &pieces) {
  std::vector<RecordedParameter> parts;
  for (const WeightPiece &piece : pieces) {
    parts.push_back({{piece.name}, whole.dtype, piece.stored, whole.isSaved, whole.isTrained});
    std::optional<size_t> owner = ownNames.find(piece.name);
    if (!owner || isStack(own[*owner]))
      continue;
    parts.back().names = own[*owner].names;
    parts.back().pieces = own[*owner].pieces;
  }
  const std::string &name = whole.names.front();
  model.divide(name, renamed(pieces, parts));
  for (const RecordedState &state : states[name]) {
    if (optimizer)
      optimizer->divide(state.name, renamed(pieces, parts, state.kind()));
    for (size_t i = 0; i < parts.size(); ++i)
      addState(parts[i], state, pieces[i].stored);
  }
  if (auto steps = begun.extract(name))
    for (const RecordedParameter &part : parts)
      begun[part.names.front()] = steps.mapped();
  states.erase(name);
  isChanged = true;
  return parts;
}

void Arrangement::addState(const RecordedParameter &parameter, const RecordedState &like,
                           std::span<const int64_t> shape) {
  const std::string &name = parameter.names.front();
  states[name].push_back({name + "." + like.kind(), name, like.dtype, {shape.begin(), shape.end()}, like.isMaster});
}

Status Arrangement::stack() {
  NameIndex saved(record.parameters);
  std::vector<std::optional<RecordedParameter>> arranged(record.parameters.begin(), record.parameters.end());
  for (const RecordedParameter &wanted : own) {
    if (!isStack(wanted) || saved.hasAny(wanted.names))
      continue;
    std::vector<WeightPiece> pieces = piecesOf(*wanted.pieces, wanted.shape);
    std::vector<size_t> positions;
    for (const WeightPiece &piece : pieces)
      if (auto position = saved.find(piece.name); position && arranged[*position] && !isStack(*arranged[*position]))
        positions.push_back(*position);
    // That all of it is missing, is reported where all parameters are compared.
    if (positions.empty())
      continue;
    MESHPLAN_RETURN_IF_ERROR(checkComplete(wanted, pieces, positions, saved));
    MESHPLAN_RETURN_IF_ERROR(makeStack(wanted, pieces, positions, arranged));
  }
  record.parameters.clear();
  for (std::optional<RecordedParameter> &parameter : arranged)
    if (parameter)
      record.parameters.push_back(*std::move(parameter));
  return Status();
}

Status Arrangement::checkComplete(const RecordedParameter &wanted, std::span<const WeightPiece> pieces,
                                  std::span<const size_t> positions, const NameIndex &saved) const {
  if (positions.size() == pieces.size())
    return Status();
  auto isFound = [&](const WeightPiece &piece) {
    auto position = saved.find(piece.name);
    return position && std::ranges::find(positions, *position) != positions.end();
  };
  auto missing = std::ranges::find_if_not(pieces, isFound);
  const std::string &name = (missing == pieces.end() ? pieces.front() : *missing).name;
  return otherModel(path, "it has no parameter '" + name + "', which is a part of '" + wanted.names.front() + "' " +
                              shapeText(wanted.shape) + " in this plan");
}

Status Arrangement::makeStack(const RecordedParameter &wanted, const std::vector<WeightPiece> &pieces,
                              std::span<const size_t> positions,
                              std::vector<std::optional<RecordedParameter>> &arranged) {
  std::vector<RecordedParameter> parts;
  for (size_t position : positions)
    parts.push_back(*arranged[position]);
  for (size_t i = 0; i < parts.size(); ++i)
    MESHPLAN_RETURN_IF_ERROR(checkPart(wanted, parts.front(), parts[i], pieces[i]));
  const std::string &name = wanted.names.front();
  const RecordedParameter &first = parts.front();
  if (first.isSaved)
    model.assemble(name, renamed(pieces, parts), wanted.shape);
  for (const RecordedState &state : states[first.names.front()]) {
    if (optimizer)
      optimizer->assemble(name + "." + state.kind(), renamed(pieces, parts, state.kind()), wanted.shape);
    addState(wanted, state, wanted.shape);
  }
  if (auto steps = begun.find(first.names.front()); steps != begun.end())
    begun[name] = steps->second;
  for (size_t position : positions) {
    states.erase(arranged[position]->names.front());
    begun.erase(arranged[position]->names.front());
    arranged[position].reset();
  }
  arranged[positions.front()] = {wanted.names,  first.dtype,     wanted.shape,
                                 first.isSaved, first.isTrained, wanted.pieces};
  isChanged = true;
  return Status();
}

/// "f32, trained, saved, its states exp_avg f32, master f32, counted from step 0".
std::string Arrangement::textOf(const RecordedParameter &parameter) {
  std::string kinds;
  for (const RecordedState &state : states[parameter.names.front()])
    kinds += (kinds.empty() ? "" : ", ") + state.kind() + " " + std::string(dtypeName(state.dtype));
  auto steps = begun.find(parameter.names.front());
  return std::string(dtypeName(parameter.dtype)) + (parameter.isTrained ? ", trained" : ", not trained") +
         (parameter.isSaved ? ", saved" : ", not saved") + ", its states " + (kinds.empty() ? "none" : kinds) +
         ", counted from step " + std::to_string(steps == begun.end() ? 0 : steps->second);
}

Status Arrangement::checkPart(const RecordedParameter &wanted, const RecordedParameter &first,
                              const RecordedParameter &part, const WeightPiece &piece) {
  if (part.shape != piece.stored)
    return otherModel(path, "parameter '" + part.names.front() + "' is " + shapeText(part.shape) + ", " +
                                shapeText(piece.stored) + " required as a part of '" + wanted.names.front() + "'");
  if (std::string one = textOf(first), other = textOf(part); one != other)
    return Status(StatusCode::invalid,
                  path + ": parameters '" + first.names.front() + "' (" + one + ") and '" + part.names.front() + "' (" +
                      other + ") are parts of '" + wanted.names.front() +
                      "' in this plan, and have to be alike; help: leave 'expert' out, or start a new training "
                      "from what `meshplan-run export " +
                      path + "` writes");
  return Status();
}

/// Gives the record the states in the order of their parameters.
void Arrangement::finish() {
  record.states.clear();
  for (const RecordedParameter &parameter : record.parameters)
    std::ranges::move(states[parameter.names.front()], std::back_inserter(record.states));
  std::ranges::move(others, std::back_inserter(record.states));
  record.state.begun.assign(begun.begin(), begun.end());
}

Status meshplan::arrange(const CheckpointTensors &tensors, const std::string &path, const artifact::Program &program) {
  return Arrangement(tensors, path, program).run();
}

void meshplan::divideStacks(TensorSource &weights, std::span<const RecordedParameter> stored,
                            std::span<const RecordedParameter> wanted) {
  NameIndex names(wanted);
  for (const RecordedParameter &each : stored)
    if (std::vector<WeightPiece> pieces = dividedPieces(each, names); !pieces.empty())
      weights.divide(each.names.front(), pieces);
}
