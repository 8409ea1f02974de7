//===- adapters.cpp - LoRA adapters as PEFT names them --------------------===//

#include "runtime/checkpoint/adapters.h"

#include "runtime/artifact/sharding.h"
#include "runtime/base/names.h"

#include <algorithm>
#include <filesystem>

using namespace meshplan;

static constexpr std::string_view savedModule = "modules_to_save", wrapper = "base_model.model.";

static std::vector<std::string_view> partsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0, end; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
  }
  return parts;
}

static std::string joined(std::span<const std::string_view> parts) {
  std::string name;
  for (std::string_view part : parts)
    name.append(name.empty() ? "" : ".").append(part);
  return name;
}

/// The name in the model that PEFT has wrapped, if this is of the wrapper.
static std::string_view unwrapped(std::string_view name) {
  size_t place = name.find(wrapper);
  bool isWrapped = place == 0 || (place != std::string_view::npos && name[place - 1] == '.');
  return isWrapped ? name.substr(place + wrapper.size()) : name;
}

bool meshplan::isAdapter(std::string_view name) {
  std::vector<std::string_view> parts = partsOf(name);
  return std::ranges::any_of(parts,
                             [](std::string_view part) { return part.starts_with("lora_") || part == savedModule; });
}

std::string meshplan::adapterName(std::string_view name) {
  std::vector<std::string_view> parts = partsOf(unwrapped(name)), kept;
  for (size_t i = 0; i < parts.size(); ++i) {
    bool isMatrix = parts[i].starts_with("lora_");
    if (parts[i] != savedModule)
      kept.push_back(parts[i]);
    if (!isMatrix && parts[i] != savedModule)
      continue;
    ++i; // what the adapter is called
    if (parts[i - 1] == "lora_magnitude_vector" && i + 2 == parts.size())
      ++i; // of DoRA it is the vector itself that has the name
  }
  return std::string(wrapper) + joined(kept);
}

std::vector<std::string> meshplan::namesInWeights(std::string_view name) {
  std::vector<std::string> names{std::string(name)};
  for (std::string_view each : {name, unwrapped(name)}) {
    std::vector<std::string_view> parts = partsOf(each);
    std::erase_if(parts, [](std::string_view part) { return part == "base_layer" || part == "original_module"; });
    for (std::string text : {std::string(each), joined(parts)})
      if (std::ranges::find(names, text) == names.end())
        names.push_back(std::move(text));
  }
  return names;
}

static std::string fileOf(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/adapter_model.safetensors" : path;
}

Expected<std::unique_ptr<AdapterFeed>> AdapterFeed::open(TensorSource weights, const std::string &adapters,
                                                         const artifact::Program &program) {
  auto feed = std::make_unique<AdapterFeed>(std::move(weights));
  if (!adapters.empty())
    MESHPLAN_RETURN_IF_ERROR(feed->openAdapters(fileOf(adapters), program).withContext("--adapters"));
  return feed;
}

Status AdapterFeed::openAdapters(const std::string &path, const artifact::Program &program) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  std::set<std::string> read;
  for (flatbuffers::uoffset_t i = 0; program.parameters() && i < program.parameters()->size(); ++i) {
    const artifact::Parameter &parameter = *program.parameters()->Get(i);
    std::string name = parameter.names()->Get(0)->str(), saved = adapterName(name);
    if (!source.find(saved) && !isAdapter(name))
      continue;
    MESHPLAN_RETURN_IF_ERROR(
        source.require({&saved, 1}, globalShapeOf(*program.values()->Get(parameter.value()))).status());
    if (!read.insert(saved).second)
      return Status::error(StatusCode::invalid, path, ": the model has several adapters that would read '", saved,
                           "'; help: export it with one adapter");
    inAdapters.insert(name);
    hasOthers |= !isAdapter(name);
  }
  std::vector<std::string> unread;
  for (const std::string &name : source.names())
    if (!read.contains(name))
      unread.push_back("'" + name + "'");
  if (!unread.empty())
    return Status::error(StatusCode::invalid, path, ": the model has no parameter for ", listOfFew(unread),
                         "; help: export the model with the adapters that adapter_config.json describes");
  adapterPaths = source.filePaths();
  adapters = std::make_unique<FileFeed>(std::move(source));
  return Status();
}

/// The file that has a parameter, and the names that it may have there.
const Feed &AdapterFeed::feedOf(const FeedRequest &request, FeedRequest &renamed) const {
  renamed = request;
  if (inAdapters.contains(request.names.front())) {
    renamed.names = {adapterName(request.names.front())};
    return *adapters;
  }
  for (const std::string &name : request.names)
    for (std::string &other : namesInWeights(name))
      if (std::ranges::find(renamed.names, other) == renamed.names.end())
        renamed.names.push_back(std::move(other));
  return weights;
}

Status AdapterFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  FeedRequest renamed;
  Status status = feedOf(request, renamed).read(renamed, out);
  if (status.code() == StatusCode::notFound && !adapters && isAdapter(request.names.front()))
    return Status(status.code(), status.message() + "; help: adapters that are saved alone are read with --adapters");
  return status;
}

void AdapterFeed::announce(const FeedRequest &request) const {
  FeedRequest renamed;
  feedOf(request, renamed).announce(renamed);
}

std::vector<std::string> AdapterFeed::filePaths() const {
  std::vector<std::string> paths = weightsPaths;
  paths.insert(paths.end(), adapterPaths.begin(), adapterPaths.end());
  return paths;
}
