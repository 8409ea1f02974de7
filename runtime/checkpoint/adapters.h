//===- adapters.h - LoRA adapters as PEFT names them -------------*- C++ -*-===//
//
// A model with adapters calls a weight `q_proj.base_layer.weight` and an adapter
// `q_proj.lora_A.NAME.weight`. PEFT saves the adapter alone, without its name, as
// `base_model.model.PATH.q_proj.lora_A.weight`; the model without adapters has
// `q_proj.weight`. Source: get_peft_model_state_dict (peft/utils/save_and_load.py).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_ADAPTERS_H
#define MESHPLAN_RUNTIME_CHECKPOINT_ADAPTERS_H

#include "runtime/artifact/artifact.h"
#include "runtime/exec/feed.h"

#include <map>

namespace meshplan {

/// True for what PEFT saves: matrices and vectors of LoRA, and the copies of `modules_to_save`.
bool isAdapter(std::string_view name);

/// The name under which PEFT saves this parameter, an adapter or not.
std::string adapterName(std::string_view name);

/// What the model without adapters calls those parameters of a model that it calls otherwise: `q.base_layer.weight` is
/// `q.weight` there, if the model has an adapter `q.lora_...`. Empty for a model without adapters.
using PlainNames = std::map<std::string, std::string, std::less<>>;
PlainNames plainNames(std::span<const std::string> parameters);

/// Weights of a model, which may have adapters in a file of their own. What the file of adapters has counts; a
/// parameter that `weights` does not have under its name is read under that of the model without adapters.
class AdapterFeed final : public Feed {
public:
  /// Without a file of adapters. `parameters` are all of the model, with all their names.
  AdapterFeed(TensorSource weights, std::span<const std::string> parameters)
      : plain(plainNames(parameters)), weights(std::move(weights)) {}

  /// `adapters` is a file that PEFT has saved, or a folder with adapter_model.safetensors; empty: there is none.
  /// `notFound` or `invalid`, with both sides, where it lacks an adapter of the program, has one in another shape, or
  /// has one that the program does not.
  static Expected<std::unique_ptr<AdapterFeed>> open(TensorSource weights, const std::string &adapters,
                                                     const artifact::Program &program);

  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
  void announce(const FeedRequest &request) const override;
  std::string path() const override { return weights.path(); }

  /// True if the file of adapters has other parameters, too: of embeddings that were made larger, for one.
  bool replacesWeights() const { return hasOthers; }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const;

  /// For a person: tensors of the weights that no parameter or buffer of the model is read from; empty for none.
  const std::string &warning() const { return unreadText; }

private:
  Status openAdapters(const std::string &path, const artifact::Program &program);
  const Feed &feedOf(const FeedRequest &request, FeedRequest &renamed) const;

  PlainNames plain;
  FileFeed weights;
  std::unique_ptr<FileFeed> adapters;
  std::map<std::string, std::vector<std::string>, std::less<>> inAdapters; ///< names there, by the first of a parameter
  bool hasOthers = false;
  std::string unreadText;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_ADAPTERS_H
