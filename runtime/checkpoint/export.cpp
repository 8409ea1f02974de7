//===- export.cpp - a checkpoint as other libraries read it ---------------===//

#include "runtime/checkpoint/export.h"

#include "runtime/base/names.h"
#include "runtime/checkpoint/config_files.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

using namespace meshplan;

namespace {

/// A tensor that is written.
struct Exported {
  std::string name;
  const RecordedParameter *parameter;
  DType dtype;

  int64_t bytes() const { return elementCount(parameter->shape) * dtypeSize(dtype); }
  TensorSpec spec() const { return {name, dtype, parameter->shape}; }
};

/// What is written under one name.
struct ExportedFile {
  std::string name;
  std::vector<Exported> tensors;
};

/// A folder that appears under its name when it is whole, and otherwise not.
class NewFolder {
public:
  static Expected<NewFolder> create(const std::string &path) {
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error))
      return Status::error(StatusCode::invalid, "cannot write '", path,
                           "': it is there already; help: name a folder that is not there yet");
    MESHPLAN_ASSIGN_OR_RETURN(AtomicFile::Names names, AtomicFile::chooseNames(withoutSlash(path) + "/x"));
    NewFolder folder(withoutSlash(path), withoutSlash(path) + names.temporary.substr(names.temporary.rfind('.')));
    std::filesystem::create_directories(folder.temporary, error);
    if (error)
      return Status::error(StatusCode::io, "cannot write '", path, "': ", error.message());
    return folder;
  }

  NewFolder(NewFolder &&other) noexcept : path(std::move(other.path)), temporary(std::exchange(other.temporary, "")) {}
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary.empty())
      std::filesystem::remove_all(temporary, ignored);
  }

  /// Where its files are made.
  const std::string &place() const { return temporary; }

  Status commit() {
    MESHPLAN_RETURN_IF_ERROR(flushFolder(temporary));
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      return Status::error(StatusCode::io, "cannot write '", path, "': ", std::strerror(errno));
    temporary.clear();
    return Status();
  }

private:
  NewFolder(std::string path, std::string temporary) : path(std::move(path)), temporary(std::move(temporary)) {}

  static std::string withoutSlash(std::string path) {
    while (path.size() > 1 && path.back() == '/')
      path.pop_back();
    return path;
  }

  std::string path, temporary;
};

bool isAdapter(const RecordedParameter &parameter) {
  return parameter.names.front().find(".lora_") != std::string::npos;
}

/// Names of adapters, as PEFT saves them, say how the model is wrapped, and not what the adapter is called: "default".
std::string adapterName(const std::string &name) {
  std::string result = "base_model.model", part, before;
  for (size_t begin = 0, end; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    part = name.substr(begin, end - begin);
    if (!(before.starts_with("lora_") && part == "default"))
      result += "." + part;
    before = part;
  }
  return result;
}

class Export {
public:
  Export(const ExportOptions &options, const CheckpointSource &source) : options(options), source(source) {}

  Expected<ExportReport> run() {
    report.checkpoint = source.folder();
    report.step = source.record().state.counters.steps;
    MESHPLAN_RETURN_IF_ERROR(choose());
    MESHPLAN_ASSIGN_OR_RETURN(NewFolder folder, NewFolder::create(options.output));
    MESHPLAN_RETURN_IF_ERROR(options.adapters ? copyOfAdapters(folder.place()) : copyConfig(folder.place()));
    std::vector<ExportedFile> files = divide();
    for (const ExportedFile &file : files)
      MESHPLAN_RETURN_IF_ERROR(write(folder.place(), file));
    if (files.size() > 1)
      MESHPLAN_RETURN_IF_ERROR(writeIndex(folder.place(), files));
    MESHPLAN_RETURN_IF_ERROR(folder.commit());
    report.tensors = static_cast<int64_t>(chosen.size());
    return report;
  }

private:
  std::string configFolder() const {
    return options.config.empty() ? folderOfWeights(source.record().state.weights) : options.config;
  }

  Status choose() {
    const std::vector<RecordedParameter> &parameters = source.record().parameters;
    bool hasAdapters = std::ranges::any_of(parameters, isAdapter);
    if (options.adapters && !hasAdapters)
      return Status(StatusCode::invalid, source.folder() + ": the model has no adapters of PEFT; help: leave out "
                                                           "--adapters");
    if (!options.adapters && hasAdapters)
      return Status(StatusCode::invalid, source.folder() +
                                             ": the model has adapters of PEFT, which a plain model has no "
                                             "place for; help: write them alone with --adapters");
    std::vector<std::string> left;
    for (const RecordedParameter &parameter : parameters)
      choose(parameter, left);
    if (!left.empty())
      report.notes.push_back("what is trained besides adapters is not written: " + listOfFew(left));
    return Status();
  }

  /// Or notes that it is left out although it is trained.
  void choose(const RecordedParameter &parameter, std::vector<std::string> &left) {
    const std::string &name = parameter.names.front();
    if (options.adapters && !isAdapter(parameter)) {
      if (parameter.isTrained)
        left.push_back("'" + name + "'");
      return;
    }
    DType dtype = isFloat(parameter.dtype) ? options.dtype.value_or(parameter.dtype) : parameter.dtype;
    chosen.push_back({options.adapters ? adapterName(name) : name, &parameter, dtype});
  }

  /// The one type of all floats.
  std::optional<DType> commonDtype() const {
    std::set<DType> found;
    for (const Exported &each : chosen)
      if (isFloat(each.dtype))
        found.insert(each.dtype);
    return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
  }

  Status copyOfAdapters(const std::string &folder) {
    report.files.push_back("adapter_config.json");
    return copyAdapterConfig(configFolder(), folder);
  }

  Status copyConfig(const std::string &folder) {
    std::string from = configFolder();
    if (!from.empty()) {
      MESHPLAN_ASSIGN_OR_RETURN(report.files, copyModelFiles(from, folder, commonDtype()));
    }
    if (std::ranges::find(report.files, "config.json") == report.files.end()) {
      if (!options.config.empty())
        return Status::error(StatusCode::notFound, options.config, ": no config.json in this folder");
      report.notes.push_back((from.empty() ? "the checkpoint names no weights" : "there is no config.json in " + from) +
                             std::string(", so that from_pretrained will not load what is written; help: name the "
                                         "folder that has it with --config"));
    }
    return Status();
  }

  /// In the order of the model, as much in one file as may be.
  std::vector<ExportedFile> divide() const {
    std::vector<ExportedFile> files(1);
    int64_t bytes = 0;
    for (const Exported &each : chosen) {
      if (!options.adapters && !files.back().tensors.empty() && bytes + each.bytes() > options.fileBytes) {
        files.emplace_back();
        bytes = 0;
      }
      files.back().tensors.push_back(each);
      bytes += each.bytes();
    }
    files.front().name = options.adapters ? "adapter_model.safetensors" : modelName;
    char name[64];
    for (size_t i = 0; files.size() > 1 && i < files.size(); ++i) {
      std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, files.size());
      files[i].name = name;
    }
    return files;
  }

  Status write(const std::string &folder, const ExportedFile &file) {
    std::vector<TensorSpec> specs;
    for (const Exported &each : file.tensors)
      specs.push_back(each.spec());
    MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(folder + "/" + file.name, specs));
    for (const Exported &each : file.tensors) {
      std::vector<std::byte> bytes(each.bytes());
      SliceRanges whole = wholeTensor(each.parameter->shape);
      MESHPLAN_RETURN_IF_ERROR(read(each, whole, bytes));
      MESHPLAN_RETURN_IF_ERROR(writer.write(each.name, whole, bytes));
    }
    report.files.push_back(file.name);
    return writer.commit();
  }

  Status read(const Exported &each, const SliceRanges &whole, std::span<std::byte> bytes) const {
    const RecordedState *master = each.dtype == each.parameter->dtype ? nullptr : source.masterOf(*each.parameter);
    return master ? source.readState(*master, whole, each.dtype, bytes)
                  : source.readParameter(*each.parameter, whole, each.dtype, bytes);
  }

  Status writeIndex(const std::string &folder, std::span<const ExportedFile> files) {
    nlohmann::ordered_json places = nlohmann::ordered_json::object();
    int64_t bytes = 0;
    for (const ExportedFile &file : files)
      for (const Exported &each : file.tensors) {
        places[each.name] = file.name;
        bytes += each.bytes();
      }
    nlohmann::ordered_json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", places}};
    std::string text = index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    report.files.push_back("model.safetensors.index.json");
    return writeFileAtomically(folder + "/" + report.files.back(), std::as_bytes(std::span(text)));
  }

  const ExportOptions &options;
  const CheckpointSource &source;
  std::vector<Exported> chosen;
  ExportReport report;
};

} // namespace

Expected<ExportReport> meshplan::exportCheckpoint(const ExportOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(std::string path, findCheckpoint(options.checkpoint));
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointSource source, CheckpointSource::open(path, options.weights));
  return Export(options, source).run();
}
