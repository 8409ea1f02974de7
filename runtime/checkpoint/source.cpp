//===- source.cpp - the tensors of a checkpoint ---------------------------===//

#include "runtime/checkpoint/source.h"

#include "runtime/base/names.h"
#include "runtime/checkpoint/weights_fingerprint.h"

#include <algorithm>

using namespace meshplan;

/// The file of a checkpoint, which has all of these tensors.
static Expected<TensorSource> openFile(const std::string &path, std::span<const TensorSpec> specs) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  for (const TensorSpec &spec : specs) {
    const StoredTensor *tensor = source.find(spec.name);
    if (!tensor)
      return Status::error(StatusCode::corrupted, path, ": no tensor '", spec.name, "', which ", recordName,
                           " lists; help: use an earlier checkpoint");
    if (tensor->dtype != spec.dtype || tensor->shape != spec.shape)
      return Status::error(StatusCode::corrupted, path, ": tensor '", spec.name, "' is ", shapeText(tensor->shape), " ",
                           dtypeName(tensor->dtype), ", ", recordName, " says ", shapeText(spec.shape), " ",
                           dtypeName(spec.dtype), "; help: use an earlier checkpoint");
  }
  return source;
}

Expected<CheckpointSource> CheckpointSource::open(const std::string &folder, const std::string &weights) {
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointRecord record, openRecord(folder));
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource model, openFile(folder + "/" + modelName, record.modelSpecs()));
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource optimizer, openFile(folder + "/" + optimizerName, record.optimizerSpecs()));
  CheckpointSource source(folder, std::move(record), std::move(model), std::move(optimizer));
  if (!source.content.savesAll())
    MESHPLAN_RETURN_IF_ERROR(source.openWeights(weights));
  return source;
}

Status CheckpointSource::openWeights(const std::string &given) {
  const std::string &file = given.empty() ? content.state.weights : given;
  auto opened = TensorSource::open(file);
  if (!opened)
    return Status(opened.status().code(), path +
                                              ": what is not trained is in the weights that the training began with: " +
                                              opened.status().message() + "; help: give them with --weights");
  if (fingerprintOf(*opened) != content.weightsFingerprint)
    return Status::error(StatusCode::invalid, path, ": '", file,
                         "' are other weights than the training began with, and the checkpoint does not have what is "
                         "not trained; help: give those with --weights");
  std::vector<std::string> names;
  for (const RecordedParameter &parameter : content.parameters)
    names.insert(names.end(), parameter.names.begin(), parameter.names.end());
  weights = std::make_unique<AdapterFeed>(*std::move(opened), names);
  return Status();
}

Status CheckpointSource::readParameter(const RecordedParameter &parameter, const SliceRanges &ranges, DType dtype,
                                       std::span<std::byte> out) const {
  if (!parameter.isSaved)
    return weights->read({parameter.names, parameter.shape, ranges, dtype}, out);
  return model.read(*model.find(parameter.names.front()), ranges, dtype, out);
}

Status CheckpointSource::readState(const RecordedState &state, const SliceRanges &ranges, DType dtype,
                                   std::span<std::byte> out) const {
  return optimizer.read(*optimizer.find(state.name), ranges, dtype, out);
}

const RecordedState *CheckpointSource::masterOf(const RecordedParameter &parameter) const {
  auto found = std::ranges::find_if(content.states, [&](const RecordedState &state) {
    return state.isMaster && state.parameter == parameter.names.front();
  });
  return found == content.states.end() ? nullptr : &*found;
}

Status CheckpointFeed::readParameter(const RecordedParameter &parameter, const FeedRequest &request,
                                     std::span<std::byte> out) const {
  const RecordedState *master = request.dtype == parameter.dtype ? nullptr : source.masterOf(parameter);
  return master ? source.readState(*master, request.ranges, request.dtype, out)
                : source.readParameter(parameter, request.ranges, request.dtype, out);
}

Status CheckpointFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  const std::string &name = request.names.front();
  if (const RecordedState *state = source.record().findState(name))
    return source.readState(*state, request.ranges, request.dtype, out);
  for (const std::string &each : request.names)
    if (const RecordedParameter *parameter = source.record().findParameter(each))
      return readParameter(*parameter, request, out);
  for (flatbuffers::uoffset_t i = 0; program.states() && i < program.states()->size(); ++i)
    if (const artifact::State *state = program.states()->Get(i); state->copies() && state->name()->str() == name)
      return readParameter(*source.record().findParameter(state->parameter()->string_view()), request, out);
  return Status::error(StatusCode::notFound, source.folder(), ": no tensor '", name, "'");
}
