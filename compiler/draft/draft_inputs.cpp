//===- draft_inputs.cpp - the inputs of a drafted plan --------------------===//
//
// Dims of inputs get names so that the plan can say what is split. The first dim of the first input is the batch, and
// with token ids the second one is the sequence; dims of other inputs that have the same extent or symbol get the same
// name.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/draft_inputs.h"
#include "compiler/draft/plan_words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>

using namespace meshplan;

namespace {

class InputDrafter {
public:
  InputDrafter(const std::vector<OutlineValue> &inputs, const llvm::StringMap<int64_t> &examples, const BatchAxes &axes,
               bool readsTokens, const std::vector<std::vector<std::string>> &names)
      : inputs(inputs), examples(examples), axes(axes), readsTokens(readsTokens), names(names) {}

  DraftInputs draft();

private:
  void findNamedDims();
  /// True if the dims have the same extent, as far as the archive and its example inputs tell: exporters give labels
  /// symbols of their own.
  bool isSame(const OutlineDim &left, const OutlineDim &right) const;
  std::string nameOf(size_t input, size_t dim) const;
  std::string dimText(size_t input, size_t dim);
  std::string extentOf(const OutlineDim &dim, const std::string &name);

  const std::vector<OutlineValue> &inputs;
  const llvm::StringMap<int64_t> &examples;
  const BatchAxes &axes;
  bool readsTokens;
  const std::vector<std::vector<std::string>> &names;
  std::optional<OutlineDim> batch, sequence;
  std::map<std::string, std::string> letOf; ///< the name of the `let` that a symbol is set to
  std::map<std::string, int> letNames;      ///< how often each name was wanted
  DraftInputs result;
};

} // namespace

bool InputDrafter::isSame(const OutlineDim &left, const OutlineDim &right) const {
  if (left.symbol == right.symbol)
    return left.extent == right.extent;
  auto one = examples.find(left.symbol), other = examples.find(right.symbol);
  return one != examples.end() && other != examples.end() && one->second == other->second;
}

void InputDrafter::findNamedDims() {
  for (size_t index = 0; index < names.size(); ++index)
    for (size_t dim = 0; dim < names[index].size(); ++dim)
      if (!batch && names[index][dim] == "batch")
        batch = inputs[index].dims[dim];
  for (const OutlineValue &input : inputs) {
    if (!batch && !input.dims.empty())
      batch = input.dims[0];
    if (readsTokens && !sequence && input.dims.size() == 2 && isSame(input.dims[0], *batch))
      sequence = input.dims[1];
  }
}

std::string InputDrafter::nameOf(size_t index, size_t dim) const {
  if (!names.empty())
    return names[index][dim];
  const OutlineValue &input = inputs[index];
  const OutlineDim &own = input.dims[dim];
  if (dim == 0 && isSame(own, *batch))
    return "batch";
  if (sequence && dim == 1 && input.dims.size() == 2 && isSame(input.dims[0], *batch) && isSame(own, *sequence))
    return "seq";
  // The symbol is a name that its dims share, unless the name has another meaning here.
  bool isName = !own.symbol.empty() && own.symbol != "batch" && own.symbol != "seq" &&
                llvm::all_of(own.symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isName ? own.symbol : "_";
}

/// The extent that a symbolic dim is set to, the same wherever the symbol appears. Without an example it is a `let`
/// that the user is expected to set.
std::string InputDrafter::extentOf(const OutlineDim &dim, const std::string &name) {
  const std::string &symbol = dim.symbol;
  int64_t multiple = isSame(dim, *batch) ? axes.shards : 1;
  if (auto example = examples.find(symbol); example != examples.end())
    // The batch must be a multiple of the ranks that split it.
    return std::to_string(llvm::alignTo(example->second, multiple));
  auto [known, isNew] = letOf.try_emplace(symbol);
  if (!isNew)
    return known->second;
  known->second = (symbol == batch->symbol ? "batch" : name == "_" ? "extent" : name) + "_size";
  if (letNames[known->second]++ > 0)
    known->second += "_" + std::to_string(letOf.size());
  constexpr int64_t guess = 16;
  result.lets.push_back("let " + known->second + " = " + std::to_string(llvm::alignTo(guess, multiple)) + "  // '" +
                        symbol + "' in the model, which has no example of it");
  return known->second;
}

std::string InputDrafter::dimText(size_t index, size_t dim) {
  const OutlineDim &own = inputs[index].dims[dim];
  std::string name = nameOf(index, dim), text = name;
  if (!own.symbol.empty())
    text += " = " + extentOf(own, name);
  if (name == "batch" && !axes.names.empty())
    text += " over " + axes.names;
  return text;
}

DraftInputs InputDrafter::draft() {
  findNamedDims();
  std::vector<std::pair<std::string, std::vector<std::string>>> byDims; // dims, names of inputs
  for (size_t index = 0; index < inputs.size(); ++index) {
    const OutlineValue &input = inputs[index];
    std::vector<std::string> dims;
    for (size_t dim = 0; dim < input.dims.size(); ++dim)
      dims.push_back(dimText(index, dim));
    std::string text = "[" + llvm::join(dims, ", ") + "]";
    auto known = llvm::find_if(byDims, [&](const auto &entry) { return entry.first == text; });
    if (known == byDims.end())
      known = byDims.insert(byDims.end(), {text, {}});
    known->second.push_back(planWord(input.name));
  }
  for (const auto &[dims, names] : byDims)
    if (dims != "[]")
      result.statements.push_back("input " + llvm::join(names, ", ") + ": " + dims);
  return std::move(result);
}

DraftInputs meshplan::draftInputs(const std::vector<OutlineValue> &inputs, const llvm::StringMap<int64_t> &examples,
                                  const BatchAxes &batch, bool readsTokens,
                                  const std::vector<std::vector<std::string>> &names) {
  return InputDrafter(inputs, examples, batch, readsTokens, names).draft();
}
