//===- directory_source.cpp - sharded safetensors -------------------------===//

#include "runtime/data/safetensors_header.h"
#include "runtime/data/tensor_source_builder.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace meshplan {

namespace {

using Json = nlohmann::json;
using TensorsByName = std::map<std::string, StoredTensor>;

Expected<TensorsByName> readShard(TensorSourceBuilder &builder, const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, builder.map(path));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<StoredTensor> tensors, readSafetensors(path, bytes));
  TensorsByName byName;
  for (StoredTensor &tensor : tensors)
    byName.emplace(tensor.name, std::move(tensor));
  return byName;
}

Status addIndexed(TensorSourceBuilder &builder, const std::string &directory, const std::string &indexPath) {
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(indexPath));
  builder.setIndex(indexPath);
  const char *text = reinterpret_cast<const char *>(file.bytes().data());
  Json index = Json::parse(text, text + file.bytes().size(), nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return Status::error(StatusCode::corrupted, indexPath, ": no weight_map");
  // Only the tensors of the index count, although its files may have others.
  std::map<std::string, TensorsByName> shards;
  for (const auto &[name, shard] : index["weight_map"].items()) {
    if (!shard.is_string())
      return Status::error(StatusCode::corrupted, indexPath, ": tensor '", name, "' has no file name");
    const std::string &shardName = shard.get_ref<const std::string &>();
    auto [entry, isNew] = shards.try_emplace(shardName);
    // Many names refer to the same file; each is opened once.
    if (isNew) {
      MESHPLAN_ASSIGN_OR_RETURN(entry->second, readShard(builder, directory + "/" + shardName));
    }
    auto tensor = entry->second.find(name);
    if (tensor == entry->second.end())
      return Status::error(StatusCode::corrupted, indexPath, ": tensor '", name, "' is not in ", shardName);
    builder.add(std::move(tensor->second));
  }
  return Status();
}

} // namespace

Status addIndex(TensorSourceBuilder &builder, const std::string &index) {
  std::string directory = std::filesystem::path(index).parent_path();
  return addIndexed(builder, directory.empty() ? "." : directory, index);
}

Status addDirectory(TensorSourceBuilder &builder, const std::string &directory) {
  std::string indexPath = directory + "/model.safetensors.index.json", filePath = directory + "/model.safetensors";
  std::error_code ignored;
  // The index wins, as in Hugging Face's loaders: a folder may also have a file of another save.
  if (std::filesystem::exists(indexPath, ignored))
    return addIndexed(builder, directory, indexPath);
  if (!std::filesystem::exists(filePath, ignored))
    return Status::error(
        StatusCode::notFound, directory,
        ": neither model.safetensors.index.json nor model.safetensors in this directory",
        std::filesystem::exists(directory + "/adapter_model.safetensors", ignored)
            ? ", but LoRA adapters alone; help: name them with --adapters, and their model with --weights"
            : "");
  MESHPLAN_ASSIGN_OR_RETURN(TensorsByName tensors, readShard(builder, filePath));
  for (auto &[name, tensor] : tensors)
    builder.add(std::move(tensor));
  return Status();
}

} // namespace meshplan
