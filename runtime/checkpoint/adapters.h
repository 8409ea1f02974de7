//===- adapters.h - LoRA adapters as PEFT names them ------------*- C++ -*-===//
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

/// True for the parameters that PEFT saves: matrices and vectors of LoRA, and the copies made by `modules_to_save`.
bool isAdapter(std::string_view name);

/// The name under which PEFT saves this parameter, whether it is an adapter or not.
std::string adapterName(std::string_view name);

/// Maps names of a model with adapters to the names of the same parameters in the model without adapters, where they
/// differ: `q.base_layer.weight` is `q.weight` there, if the model has an adapter `q.lora_...`. Empty for a model
/// without adapters.
using PlainNames = std::map<std::string, std::string, std::less<>>;
PlainNames plainNames(std::span<const std::string> parameters);

/// Weights of a model, with adapters in a separate file if there is one. A parameter in the file of adapters is read
/// from it. A parameter that `weights` lacks under its own name is read under the name of the model without adapters.
class AdapterFeed final : public Feed {
public:
  /// No file of adapters. `parameters` are all names of all parameters of the model.
  AdapterFeed(TensorSource weights, std::span<const std::string> parameters)
      : plain(plainNames(parameters)), weights(std::move(weights)) {}

  /// `adapters` is a file saved by PEFT, or a folder with adapter_model.safetensors; empty: none. `notFound` or
  /// `invalid`, with both sides, if the file lacks an adapter of the program, has one in another shape, or has one that
  /// the program lacks.
  static Expected<std::unique_ptr<AdapterFeed>> open(TensorSource weights, const std::string &adapters,
                                                     const artifact::Program &program);

  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
  void announce(const FeedRequest &request) const override;
  std::string path() const override { return weights.path(); }

  /// True if the file of adapters also has other parameters, such as enlarged embeddings.
  bool replacesWeights() const { return hasOthers; }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const;

  /// A message for the user: tensors of the weights that no parameter or buffer of the model reads; empty if there are
  /// none.
  const std::string &warning() const { return unreadText; }

private:
  Status openAdapters(const std::string &path, const artifact::Program &program);
  const Feed &feedOf(const FeedRequest &request, FeedRequest &renamed) const;

  PlainNames plain;
  FileFeed weights;
  std::unique_ptr<FileFeed> adapters;
  std::map<std::string, std::vector<std::string>, std::less<>> inAdapters; ///< by first name: names in that file
  bool hasOthers = false;
  std::string unreadText;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_ADAPTERS_H
