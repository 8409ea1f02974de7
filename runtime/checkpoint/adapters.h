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

#include <set>

namespace meshplan {

/// True for what PEFT saves: matrices and vectors of LoRA, and the copies of `modules_to_save`.
bool isAdapter(std::string_view name);

/// The name under which PEFT saves this parameter, an adapter or not.
std::string adapterName(std::string_view name);

/// What the parameter may be called in weights: `name`, and what the model without adapters calls it.
std::vector<std::string> namesInWeights(std::string_view name);

/// Weights of a model with adapters, of which each may lie in a file of its own. What the file of adapters has counts.
class AdapterFeed final : public Feed {
public:
  /// Without a file of adapters: `weights` has all.
  explicit AdapterFeed(TensorSource weights) : weightsPaths(weights.filePaths()), weights(std::move(weights)) {}

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

private:
  Status openAdapters(const std::string &path, const artifact::Program &program);
  const Feed &feedOf(const FeedRequest &request, FeedRequest &renamed) const;

  std::vector<std::string> weightsPaths, adapterPaths;
  FileFeed weights;
  std::unique_ptr<FileFeed> adapters;
  std::set<std::string, std::less<>> inAdapters; ///< parameters, by their first names
  bool hasOthers = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_ADAPTERS_H
