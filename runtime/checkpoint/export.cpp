//===- export.cpp - checkpoints in Hugging Face's format ------------------===//
//
// Everything is read and checked before the folder is created, and the folder gets its name when all files are in it.
// So a failed export leaves nothing that from_pretrained would load.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/export.h"

#include "runtime/checkpoint/config_files.h"
#include "runtime/checkpoint/exported_tensors.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/integrity/last_intact.h"
#include "runtime/checkpoint/new_folder.h"
#include "runtime/checkpoint/source.h"

#include <algorithm>

using namespace meshplan;

static Status readTensor(const CheckpointSource &source, const Exported &each, std::span<std::byte> bytes) {
  SliceRanges ranges = each.ranges();
  // A conversion from the master weight is rounded once. The 16-bit parameter is rounded already, and a wider dtype
  // cannot bring its bits back.
  const RecordedState *master = each.dtype == each.parameter->dtype ? nullptr : source.masterOf(*each.parameter);
  return master ? source.readState(*master, ranges, each.dtype, bytes)
                : source.readParameter(*each.parameter, ranges, each.dtype, bytes);
}

static Status writeTensors(const CheckpointSource &source, const std::string &folder, const ExportedFile &file) {
  std::vector<TensorSpec> specs;
  for (const Exported &each : file.tensors)
    specs.push_back(each.spec());
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(folder + "/" + file.name, specs));
  for (const Exported &each : file.tensors) {
    std::vector<std::byte> bytes(each.bytes());
    MESHPLAN_RETURN_IF_ERROR(readTensor(source, each, bytes));
    MESHPLAN_RETURN_IF_ERROR(writer.write(each.name, wholeTensor(each.shape()), bytes));
  }
  return writer.commit();
}

static Status copyConfig(const std::string &from, const std::string &to, const ExportOptions &options,
                         std::optional<DType> dtype, ExportReport &report) {
  if (options.adapters) {
    report.files.push_back("adapter_config.json");
    return copyAdapterConfig(from, to);
  }
  if (!from.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(report.files, copyModelFiles(from, to, dtype));
  }
  if (std::ranges::find(report.files, "config.json") != report.files.end())
    return Status();
  if (!options.config.empty())
    return Status::error(StatusCode::notFound, options.config, ": no config.json in this folder");
  report.notes.push_back(
      (from.empty() ? "the checkpoint does not name initial weights" : "there is no config.json in " + from) +
      std::string(": from_pretrained cannot load the export; help: name the folder that has config.json "
                  "with --config"));
  return Status();
}

static Expected<ExportReport> exportOne(const std::string &path, const ExportOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointSource source,
                            CheckpointSource::open(path, options.weights, CheckpointParts::parameters));
  const TrainingState &state = source.record().state;
  ExportReport report{.checkpoint = source.folder(), .step = state.counters.steps};
  auto tensors = exportedTensors(source.record(), options, report.notes);
  if (!tensors.ok())
    return Status::error(tensors.status().code(), source.folder(), ": ", tensors.status().message());
  // Created only after the checkpoint and the tensors have been checked, so a failure leaves no folder.
  MESHPLAN_ASSIGN_OR_RETURN(NewFolder folder, NewFolder::create(options.output));
  std::string config = options.config.empty() ? folderOfWeights(state.weights) : options.config;
  MESHPLAN_RETURN_IF_ERROR(copyConfig(config, folder.temporaryPath(), options, commonFloat(*tensors), report));
  std::vector<ExportedFile> files = dividedIntoFiles(*tensors, options);
  for (const ExportedFile &file : files) {
    MESHPLAN_RETURN_IF_ERROR(writeTensors(source, folder.temporaryPath(), file));
    report.files.push_back(file.name);
  }
  if (files.size() > 1) {
    report.files.push_back("model.safetensors.index.json");
    std::string index = indexOf(files);
    MESHPLAN_RETURN_IF_ERROR(
        writeFileAtomically(folder.temporaryPath() + "/" + report.files.back(), std::as_bytes(std::span(index))));
  }
  MESHPLAN_RETURN_IF_ERROR(folder.commit());
  report.tensors = static_cast<int64_t>(tensors->size());
  return report;
}

Expected<ExportReport> meshplan::exportCheckpoint(const ExportOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(std::string path, findCheckpoint(options.checkpoint));
  auto report = exportOne(path, options);
  return report.ok() ? report : withLastIntact(report.status(), path, options.checkpoint);
}
