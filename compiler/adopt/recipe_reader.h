//===- recipe_reader.h - checked access to a recipe -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_RECIPE_READER_H
#define MESHPLAN_COMPILER_ADOPT_RECIPE_READER_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/yaml_tree.h"
#include <functional>

namespace meshplan {

/// Reads the values of options. Each function reports a value of another kind, with its location, and then returns
/// nothing, as for an absent value.
class RecipeReader {
public:
  explicit RecipeReader(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  using Take = std::function<void(const YamlEntry &)>;
  struct Option {
    llvm::StringRef name;
    Take take;
  };

  /// Calls the function of each option that the map has. Other options have no effect here, which is a warning unless
  /// their value turns them off. An option that is not in `known` either is an error if its name is close to a known
  /// one, and with `isClosed` always.
  void readMap(const YamlEntry &section, llvm::ArrayRef<Option> options, llvm::ArrayRef<llvm::StringRef> known = {},
               bool isClosed = false);

  std::optional<int64_t> integer(const YamlEntry &entry, int64_t least = 1);
  std::optional<double> number(const YamlEntry &entry);
  std::optional<bool> boolean(const YamlEntry &entry);
  /// A dtype as PyTorch names it, in the word of the language: "torch.bfloat16" is "bf16".
  std::optional<std::string> dtype(const YamlEntry &entry);
  /// The part of a word after its last dot: "torch.optim.AdamW" is "AdamW".
  std::optional<std::string> lastName(const YamlEntry &entry);

  void noEffect(const YamlEntry &entry, const std::string &why = "");
  Diagnostic &fail(const YamlEntry &entry, const std::string &message);

  /// "tp_size (recipe.yaml:12)"
  std::string fromOf(const YamlEntry &entry) const;
  AdoptedText taken(std::string text, const YamlEntry &entry) const;
  AdoptedNumber takenNumber(int64_t value, const YamlEntry &entry) const;

private:
  Diagnostics &diagnostics;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_RECIPE_READER_H
