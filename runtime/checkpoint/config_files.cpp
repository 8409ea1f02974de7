//===- config_files.cpp - config and tokenizer files ----------------------===//

#include "runtime/checkpoint/config_files.h"

#include "runtime/base/file.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace meshplan;

// The files that transformers' configurations, tokenizers and processors save beside the weights.
static constexpr std::array modelFiles = {"config.json",
                                          "generation_config.json",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "vocab.json",
                                          "vocab.txt",
                                          "merges.txt",
                                          "tokenizer.model",
                                          "spiece.model",
                                          "sentencepiece.bpe.model",
                                          "chat_template.jinja",
                                          "chat_template.json",
                                          "preprocessor_config.json",
                                          "processor_config.json"};

std::string meshplan::folderOfWeights(const std::string &weights) {
  std::error_code ignored;
  if (weights.empty() || std::filesystem::is_directory(weights, ignored))
    return weights;
  std::string folder = std::filesystem::path(weights).parent_path();
  return folder.empty() ? "." : folder;
}

static Expected<std::string> readText(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  return std::string(reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size());
}

static Status writeText(const std::string &path, const std::string &text) {
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}

static const char *torchName(DType dtype) {
  switch (dtype) {
  case DType::bf16:
    return "bfloat16";
  case DType::f16:
    return "float16";
  case DType::f64:
    return "float64";
  default:
    return "float32";
  }
}

/// Sets the dtype in which from_pretrained loads the model. Older versions of transformers use another key.
static Expected<std::string> withDtype(const std::string &path, const std::string &text, DType dtype) {
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Status::error(StatusCode::invalid, path, ": it is not a JSON object");
  // A configuration without either gets the older key, which newer versions read too.
  for (const char *key : {"dtype", "torch_dtype"})
    if (json.contains(key) || (std::string_view(key) == "torch_dtype" && !json.contains("dtype")))
      json[key] = torchName(dtype);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Expected<std::vector<std::string>> meshplan::copyModelFiles(const std::string &from, const std::string &to,
                                                            std::optional<DType> dtype) {
  std::vector<std::string> copied;
  for (std::string name : modelFiles) {
    auto text = readText(from + "/" + name);
    if (!text && text.status().code() == StatusCode::notFound)
      continue;
    if (text && name == "config.json" && dtype)
      text = withDtype(from + "/" + name, *text, *dtype);
    if (!text)
      return text.status();
    MESHPLAN_RETURN_IF_ERROR(writeText(to + "/" + name, *text));
    copied.push_back(name);
  }
  return copied;
}

Status meshplan::copyAdapterConfig(const std::string &from, const std::string &to) {
  auto text = from.empty() ? Status(StatusCode::notFound, "") : readText(from + "/adapter_config.json");
  if (!text && text.status().code() == StatusCode::notFound)
    return Status(StatusCode::notFound,
                  (from.empty() ? std::string("the checkpoint does not name initial weights")
                                : from + ": no adapter_config.json") +
                      "; help: name the folder that `tools/export_model.py --config-out` has written with --config");
  MESHPLAN_RETURN_IF_ERROR(text.status());
  return writeText(to + "/adapter_config.json", *text);
}
