//===- adapters.cpp - LoRA adapters as PEFT names them --------------------===//

#include "runtime/checkpoint/adapters.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"

#include <algorithm>
#include <filesystem>
#include <set>

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

/// Removes the prefix of a PEFT wrapper, if the name has one: the name in the wrapped model.
static std::string_view unwrapped(std::string_view name) {
  size_t position = name.find(wrapper);
  // In front of it another wrapper may have put a prefix of its own. In the middle of a word it is part of a name.
  bool isWrapped = position == 0 || (position != std::string_view::npos && name[position - 1] == '.');
  return isWrapped ? name.substr(position + wrapper.size()) : name;
}

bool meshplan::isAdapter(std::string_view name) {
  std::vector<std::string_view> parts = partsOf(name);
  return std::ranges::any_of(parts,
                             [](std::string_view part) { return part.starts_with("lora_") || part == savedModule; });
}

/// The number of name parts after `lora_A` and the like that are the adapter's name. The second argument counts all
/// parts that follow. After a matrix the last one is "weight" or "bias", after a vector or an embedding table it is
/// part of the adapter's name. Adapters of other libraries may have no name.
static size_t partsOfName(std::string_view matrix, size_t following) {
  // Example: `q.lora_A.default.weight` has 2 parts after the matrix, of which one is the adapter's name.
  // `q.lora_magnitude_vector.default` has 1, which is the name.
  bool isTensor = matrix.find("embedding") != std::string_view::npos || matrix == "lora_magnitude_vector";
  return isTensor ? following : following - 1;
}

std::string meshplan::adapterName(std::string_view name) {
  std::vector<std::string_view> parts = partsOf(unwrapped(name)), kept;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == savedModule) {
      ++i; // skips the name of the adapter
      continue;
    }
    kept.push_back(parts[i]);
    if (parts[i].starts_with("lora_") && i + 1 < parts.size())
      i += partsOfName(parts[i], parts.size() - i - 1);
  }
  return std::string(wrapper) + joined(kept);
}

static bool isPlainPart(std::string_view part) { return part == "base_layer" || part == "original_module"; }

/// True if the module whose name ends before `parts[position]` has adapters.
static bool isAdapted(std::span<const std::string_view> parts, size_t position,
                      std::span<const std::string> parameters) {
  std::string module = joined(parts.first(position));
  std::string begin = module.empty() ? "" : module + ".";
  return std::ranges::any_of(parameters, [&](const std::string &other) {
    return other.starts_with(begin + "lora_") || other.starts_with(begin + std::string(savedModule) + ".");
  });
}

PlainNames meshplan::plainNames(std::span<const std::string> parameters) {
  PlainNames plain;
  if (std::ranges::none_of(parameters, isAdapter))
    return plain;
  for (const std::string &name : parameters) {
    std::vector<std::string_view> parts = partsOf(name);
    auto found = std::ranges::find_if(parts, isPlainPart);
    // Only beside an adapter: a model may have a module of its own that is called `base_layer`.
    if (found != parts.end() && isAdapted(parts, found - parts.begin(), parameters))
      parts.erase(found);
    // A name that another parameter of the model already has would be ambiguous.
    std::string text(unwrapped(joined(parts)));
    if (text != name && !std::ranges::count(parameters, text))
      plain[name] = text;
  }
  return plain;
}

static std::string fileOf(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/adapter_model.safetensors" : path;
}

static std::vector<std::string> namesOfParameters(const artifact::Program &program) {
  std::vector<std::string> names;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    std::ranges::move(namesOf(parameter), std::back_inserter(names));
  return names;
}

/// Warns of tensors that nothing reads: the file of a deeper model contains all tensors of a shallower one.
static std::string textOfUnread(const TensorSource &weights, const std::vector<std::string> &parameters,
                                const PlainNames &plain) {
  std::set<std::string> read(parameters.begin(), parameters.end());
  for (const auto &[name, inFile] : plain)
    read.insert(inFile);
  std::vector<std::string> unread;
  std::ranges::copy_if(weights.names(), std::back_inserter(unread),
                       [&](const std::string &name) { return !read.contains(name); });
  if (unread.empty())
    return "";
  return weights.path() + ": " + std::to_string(unread.size()) +
         (unread.size() == 1 ? " tensor that the model does not have is skipped: "
                             : " tensors that the model does not have are skipped: ") +
         nameList(unread);
}

Expected<std::unique_ptr<AdapterFeed>> AdapterFeed::open(TensorSource weights, const std::string &adapters,
                                                         const artifact::Program &program) {
  std::vector<std::string> parameters = namesOfParameters(program);
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    if (std::optional<WeightPieces> pieces = weightPiecesOf(parameter))
      weights.assemble(namesOf(parameter), *pieces, globalShapeOf(*program.values()->Get(parameter.value())));
  std::string unread = textOfUnread(weights, parameters, plainNames(parameters));
  auto feed = std::make_unique<AdapterFeed>(std::move(weights), parameters);
  feed->unreadText = std::move(unread);
  if (!adapters.empty())
    MESHPLAN_RETURN_IF_ERROR(feed->openAdapters(fileOf(adapters), program).withContext("--adapters"));
  return feed;
}

/// The names that a file of adapters may have for a parameter. A tied parameter has several. A missing adapter is an
/// error, a missing other parameter is read from the weights.
static std::vector<std::string> savedNames(const artifact::Parameter &parameter, const TensorSource &source) {
  std::vector<std::string> saved;
  for (const flatbuffers::String *name : *parameter.names())
    if (std::string each = adapterName(name->string_view()); isAdapter(name->string_view()) || source.find(each))
      saved.push_back(std::move(each));
  return saved;
}

Status AdapterFeed::openAdapters(const std::string &path, const artifact::Program &program) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  std::set<std::string> read;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters())) {
    std::vector<std::string> saved = savedNames(parameter, source);
    if (saved.empty())
      continue;
    std::string name = parameter.names()->Get(0)->str();
    MESHPLAN_RETURN_IF_ERROR(source.require(saved, globalShapeOf(*program.values()->Get(parameter.value()))).status());
    // Two adapters of one module have the same PEFT name; a file saved by PEFT has only one.
    for (const std::string &each : saved)
      if (!read.insert(each).second)
        return Status::error(StatusCode::invalid, path, ": the model has several adapters that would read '", each,
                             "'; help: export it with one adapter");
    inAdapters[name] = std::move(saved);
    hasOthers |= !isAdapter(name);
  }
  std::vector<std::string> unread;
  for (const std::string &name : source.names())
    if (!read.contains(name))
      unread.push_back("'" + name + "'");
  if (!unread.empty())
    return Status::error(StatusCode::invalid, path, ": the model has no parameter for ", listOfFew(unread),
                         "; help: export the model with the adapters that adapter_config.json describes");
  adapters = std::make_unique<FileFeed>(std::move(source));
  return Status();
}

/// The feed that reads a parameter, and the request under the names used there.
const Feed &AdapterFeed::feedOf(const FeedRequest &request, FeedRequest &renamed) const {
  renamed = request;
  if (auto found = inAdapters.find(request.names.front()); found != inAdapters.end()) {
    renamed.names = found->second;
    return *adapters;
  }
  if (std::ranges::any_of(request.names, [&](const std::string &name) { return weights.has(name); }))
    return weights;
  // Only now: a file saved with the adapters has the names of the adapted model, and its own names are certain.
  for (const std::string &name : request.names)
    if (auto found = plain.find(name); found != plain.end())
      renamed.names.push_back(found->second);
  return weights;
}

Status AdapterFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  FeedRequest renamed;
  Status status = feedOf(request, renamed).read(renamed, out);
  // The usual mistake: the weights of the base model alone were given.
  if (status.code() == StatusCode::notFound && !adapters && isAdapter(request.names.front()))
    return Status(status.code(), status.message() + "; help: adapters that are saved alone are read with --adapters");
  return status;
}

void AdapterFeed::announce(const FeedRequest &request) const {
  FeedRequest renamed;
  feedOf(request, renamed).announce(renamed);
}

std::vector<std::string> AdapterFeed::filePaths() const {
  std::vector<std::string> paths = weights.filePaths();
  if (adapters)
    std::ranges::move(adapters->filePaths(), std::back_inserter(paths));
  return paths;
}
