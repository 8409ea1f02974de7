//===- source.cpp - reading the tensors of a checkpoint -------------------===//
//
// Where a tensor of a checkpoint comes from, for a program that resumes:
//
//   a parameter in its saved dtype              model.safetensors
//   a parameter in another dtype                its master weight, if there is one, else model.safetensors
//   a parameter that has never changed          the initial weights, whose fingerprint must match
//   a state                                     optimizer.safetensors
//   a master weight that was not saved          the parameter, converted
//   a state of a parameter that was frozen      zeros
//
// Damage is noticed when bytes are read: the record has checksums of every block, and its own at its end. Only names,
// dtypes, shapes and headers are compared on opening, so that opening a large checkpoint is fast.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/source.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/checkpoint/arrange.h"
#include "runtime/checkpoint/record.h"
#include "runtime/data/safetensors_header.h"

#include <algorithm>
#include <filesystem>

using namespace meshplan;

/// The file must have the tensors that the record lists.
static Status checkTensors(const TensorSource &source, std::span<const TensorSpec> specs) {
  for (const TensorSpec &spec : specs) {
    const StoredTensor *tensor = source.find(spec.name);
    if (!tensor)
      return Status::error(StatusCode::corrupted, source.path(), ": no tensor '", spec.name, "', which ", recordName,
                           " lists");
    // The record was written with the files. If they differ, a file was replaced, and other tensors may be wrong, too.
    if (tensor->dtype != spec.dtype || tensor->shape != spec.shape)
      return Status::error(StatusCode::corrupted, source.path(), ": tensor '", spec.name, "' is ",
                           shapeText(tensor->shape), " ", dtypeName(tensor->dtype), ", ", recordName, " says ",
                           shapeText(spec.shape), " ", dtypeName(spec.dtype));
  }
  return Status();
}

static Status checkHeader(const MappedFile &file, uint32_t recorded) {
  uint32_t found = crc32Of(headerOf(file.bytes()));
  if (found == recorded)
    return Status();
  return Status::error(StatusCode::corrupted, file.path(), ": damaged: its header has the checksum ",
                       checksumText(found), ", written was one with ", checksumText(recorded));
}

/// Attaches the recorded checksums to the tensors of a file.
static Status setChecksums(TensorSource &source, const CheckpointFile &file, const CheckpointChecksums &checksums) {
  const FileChecksums &own = checksums.files.at(file.name);
  for (const TensorSpec &spec : file.tensors) {
    auto found = own.tensors.find(spec.name);
    if (found == own.tensors.end())
      return Status::error(StatusCode::corrupted, source.path(), ": ", recordName, " has no checksums of tensor '",
                           spec.name, "'");
    MESHPLAN_RETURN_IF_ERROR(source.setChecksums(spec.name, {checksums.blockBytes, found->second}));
  }
  return Status();
}

/// Compares a file, opened as `source`, with the record, as far as that needs no reading of tensors.
static Status checkFile(TensorSource &source, const MappedFile &mapped, const CheckpointFile &file,
                        const CheckpointRecord &record) {
  MESHPLAN_RETURN_IF_ERROR(checkTensors(source, file.tensors));
  // Checkpoints of format 1 have none; then only damage to the structure is found.
  if (!record.checksums)
    return Status();
  if (!record.checksums->files.contains(file.name))
    return Status::error(StatusCode::corrupted, mapped.path(), ": ", recordName, " has no checksums of it");
  MESHPLAN_RETURN_IF_ERROR(checkHeader(mapped, record.checksums->files.at(file.name).header));
  return setChecksums(source, file, *record.checksums);
}

/// Opens a file of a checkpoint. A missing file counts as damage.
static Expected<TensorSource> openFile(const std::string &folder, const CheckpointFile &file,
                                       const CheckpointRecord &record) {
  auto mapped = MappedFile::open(folder + "/" + file.name);
  if (!mapped)
    return Status(StatusCode::corrupted, mapped.status().message());
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(mapped->path()));
  MESHPLAN_RETURN_IF_ERROR(checkFile(source, *mapped, file, record));
  return source;
}

/// `wanted` are the parameters that are read of them.
static Expected<TensorSource> openWeightsFor(const std::string &path, std::span<const RecordedParameter> wanted) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  std::error_code ignored;
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, ignored))
    file /= modelName;
  std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  // The model's file of a checkpoint has recorded checksums, also if the user names the file and not the folder.
  bool isOfCheckpoint = file.filename() == modelName && std::filesystem::exists(folder + "/" + recordName, ignored);
  if (!isOfCheckpoint)
    return source;
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointRecord record, openRecord(folder));
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(file));
  MESHPLAN_RETURN_IF_ERROR(checkFile(source, mapped, record.files()[0], record));
  divideStacks(source, record.parameters, wanted);
  return source;
}

Expected<TensorSource> meshplan::openModelWeights(const std::string &path, const artifact::Program &program) {
  return openWeightsFor(path, recordOf(program, TrainingState{}).parameters);
}

Expected<CheckpointSource> CheckpointSource::openSaved(const std::string &folder, CheckpointParts parts) {
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointRecord record, openRecord(folder));
  std::vector<CheckpointFile> files = record.files();
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource model, openFile(folder, files[0], record));
  // A failure is kept: it matters only if a state or a master weight is read.
  Expected<TensorSource> optimizer = openFile(folder, files[1], record);
  if (!optimizer && parts == CheckpointParts::all)
    return optimizer.status();
  return CheckpointSource(folder, std::move(record), std::move(model), std::move(optimizer));
}

Expected<CheckpointSource> CheckpointSource::open(const std::string &folder, const std::string &weights,
                                                  CheckpointParts parts, const artifact::Program *program) {
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointSource source, openSaved(folder, parts));
  if (program)
    MESHPLAN_RETURN_IF_ERROR(arrange({source.content, source.model, source.optimizer ? &*source.optimizer : nullptr},
                                     source.path, *program));
  if (!source.content.savesAll())
    MESHPLAN_RETURN_IF_ERROR(source.openWeights(weights));
  return source;
}

Status CheckpointSource::openWeights(const std::string &given) {
  const std::string &file = given.empty() ? content.state.weights : given;
  auto opened = openWeightsFor(file, content.parameters);
  if (!opened)
    return Status(opened.status().code(), path + ": frozen tensors are in the initial weights of the training: " +
                                              opened.status().message() + "; help: give them with --weights");
  // Frozen parameters are not in the checkpoint. With other weights, the model would silently be another one.
  if (content.weightsFingerprint.empty())
    return Status::error(StatusCode::unsupported, path, ": its format is older than ", checkpointFormat,
                         ", so it cannot be checked that '", file,
                         "' are the initial weights of the training; help: export it with the version that wrote it, "
                         "and train from the export");
  // Of the file as it is: nothing in it is divided.
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource stored, TensorSource::open(file));
  if (fingerprintOf(stored) != content.weightsFingerprint)
    return Status::error(
        StatusCode::invalid, path, ": '", file,
        "' are not the initial weights of the training, and the checkpoint does not hold frozen tensors; "
        "help: give the initial weights with --weights");
  for (const RecordedParameter &parameter : content.parameters)
    if (parameter.pieces)
      opened->assemble(parameter.names, *parameter.pieces, parameter.shape);
  std::vector<std::string> names;
  for (const RecordedParameter &parameter : content.parameters)
    names.insert(names.end(), parameter.names.begin(), parameter.names.end());
  weights = std::make_unique<AdapterFeed>(*std::move(opened), names);
  return Status();
}

Status CheckpointSource::readParameter(const RecordedParameter &parameter, const SliceRanges &ranges, DType dtype,
                                       std::span<std::byte> out, ReaderShare share) const {
  if (parameter.isSaved)
    return model.read(*model.find(parameter.names.front()), ranges, dtype, out, share);
  Status status = weights->read({parameter.names, parameter.shape, ranges, dtype, share}, out);
  // Damage of the initial weights is not damage of the checkpoint.
  return status.code() == StatusCode::corrupted ? Status(StatusCode::invalid, status.message()) : status;
}

Status CheckpointSource::readState(const RecordedState &state, const SliceRanges &ranges, DType dtype,
                                   std::span<std::byte> out, ReaderShare share) const {
  MESHPLAN_RETURN_IF_ERROR(optimizer.status());
  return optimizer->read(*optimizer->find(state.name), ranges, dtype, out, share);
}

Status CheckpointSource::checkSaved() const {
  MESHPLAN_RETURN_IF_ERROR(optimizer.status());
  for (const TensorSource *file : {&model, &*optimizer})
    for (const std::string &name : file->names())
      MESHPLAN_RETURN_IF_ERROR(file->check(*file->find(name)));
  return Status();
}

const RecordedState *CheckpointSource::masterOf(const RecordedParameter &parameter) const {
  auto found = std::ranges::find_if(content.states, [&](const RecordedState &state) {
    return state.isMaster && state.parameter == parameter.names.front();
  });
  return found == content.states.end() ? nullptr : &*found;
}

Status CheckpointFeed::readParameter(const RecordedParameter &parameter, const FeedRequest &request,
                                     std::span<std::byte> out) const {
  // In its own dtype the saved parameter is exact. For another one the master weight has digits that the parameter
  // lost.
  const RecordedState *master = request.dtype == parameter.dtype ? nullptr : source.masterOf(parameter);
  return master ? source.readState(*master, request.ranges, request.dtype, out, request.share)
                : source.readParameter(parameter, request.ranges, request.dtype, out, request.share);
}

Status CheckpointFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  const std::string &name = request.names.front();
  if (const RecordedState *state = source.record().findState(name))
    return source.readState(*state, request.ranges, request.dtype, out, request.share);
  for (const std::string &each : request.names)
    if (const RecordedParameter *parameter = source.record().findParameter(each))
      return readParameter(*parameter, request, out);
  for (const artifact::State &state : elementsOf(program.states()))
    if (state.name()->str() == name) {
      if (state.copies())
        return readParameter(*source.record().findParameter(state.parameter()->string_view()), request, out);
      // A state of a parameter that was not trained before begins at zeros.
      std::ranges::fill(out, std::byte());
      return Status();
    }
  return Status::error(StatusCode::notFound, source.folder(), ": no tensor '", name, "'");
}
