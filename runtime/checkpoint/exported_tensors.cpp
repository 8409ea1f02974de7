//===- exported_tensors.cpp - the tensors of an export --------------------===//

#include "runtime/checkpoint/exported_tensors.h"

#include "runtime/base/format.h"
#include "runtime/base/names.h"
#include "runtime/checkpoint/adapters.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

using namespace meshplan;

Expected<std::vector<Exported>> meshplan::exportedTensors(const CheckpointRecord &record, const ExportOptions &options,
                                                          std::vector<std::string> &notes) {
  bool hasAdapters = std::ranges::any_of(
      record.parameters, [](const RecordedParameter &parameter) { return isAdapter(parameter.names.front()); });
  if (options.adapters && !hasAdapters)
    return Status(StatusCode::invalid, "the model has no PEFT adapters; help: leave out --adapters");
  if (!options.adapters && hasAdapters)
    return Status(StatusCode::invalid,
                  "the model has PEFT adapters, which an export of plain weights cannot hold; help: "
                  "export them alone with --adapters");
  std::vector<Exported> tensors;
  std::vector<std::string> left;
  for (const RecordedParameter &parameter : record.parameters) {
    DType dtype = isFloat(parameter.dtype) ? options.dtype.value_or(parameter.dtype) : parameter.dtype;
    bool isLeft = options.adapters && !isAdapter(parameter.names.front());
    if (isLeft && parameter.isTrained)
      left.push_back("'" + parameter.names.front() + "'");
    // The plan says in which tensors weight files have it.
    if (parameter.pieces && !options.adapters) {
      for (WeightPiece &piece : piecesOf(*parameter.pieces, parameter.shape)) {
        std::string name = piece.name;
        tensors.push_back({std::move(name), &parameter, dtype, std::move(piece)});
      }
      continue;
    }
    // A strict load_state_dict requires every name of a tied parameter.
    for (const std::string &name : parameter.names)
      if (!isLeft)
        tensors.push_back({options.adapters ? adapterName(name) : name, &parameter, dtype});
  }
  if (!left.empty())
    notes.push_back("trained tensors that are not adapters are not written: " + listOfFew(left));
  return tensors;
}

SliceRanges Exported::ranges() const {
  if (!piece)
    return wholeTensor(parameter->shape);
  SliceRanges ranges;
  for (size_t dim = 0; dim < piece->begin.size(); ++dim)
    ranges.push_back({{piece->begin[dim], piece->shape[dim]}});
  return ranges;
}

std::optional<DType> meshplan::commonFloat(std::span<const Exported> tensors) {
  std::set<DType> found;
  for (const Exported &each : tensors)
    if (isFloat(each.dtype))
      found.insert(each.dtype);
  // config.json has room for a single dtype; a mixture keeps what it says.
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

std::vector<ExportedFile> meshplan::dividedIntoFiles(std::span<const Exported> tensors, const ExportOptions &options) {
  std::vector<ExportedFile> files(1);
  int64_t bytes = 0;
  for (const Exported &each : tensors) {
    // A tensor is never divided, so a tensor larger than the limit gets a file of its own. PEFT reads adapters from one
    // file only.
    if (!options.adapters && !files.back().tensors.empty() && bytes + each.bytes() > options.fileBytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().tensors.push_back(each);
    bytes += each.bytes();
  }
  files.front().name = options.adapters ? "adapter_model.safetensors" : modelName;
  // The names that Hugging Face's loaders expect.
  for (size_t i = 0; files.size() > 1 && i < files.size(); ++i)
    files[i].name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files.size());
  return files;
}

std::string meshplan::indexOf(std::span<const ExportedFile> files) {
  nlohmann::ordered_json fileOfTensor = nlohmann::ordered_json::object();
  int64_t bytes = 0;
  for (const ExportedFile &file : files)
    for (const Exported &each : file.tensors) {
      fileOfTensor[each.name] = file.name;
      bytes += each.bytes();
    }
  nlohmann::ordered_json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", fileOfTensor}};
  return index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}
