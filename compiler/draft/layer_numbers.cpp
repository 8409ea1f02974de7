//===- layer_numbers.cpp - the numbers in paths of modules ----------------===//
//
// A draft names equal layers by one pattern. Example: of the paths `layers.0.mlp` to `layers.5.mlp` and `layers.7.mlp`
// the pattern is `layers.{0..5, 7}.mlp`, and where these are all layers of the model, `layers.*.mlp`. A pattern with
// two lists names every combination of their numbers, so it is given only where all combinations are among the paths.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/layer_numbers.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;

/// The numbers of a path. Nothing if a list would print one of them differently: "01", or one that exceeds 64 bits.
static std::optional<std::vector<int64_t>> numbersOf(StringRef path) {
  std::vector<int64_t> numbers;
  for (StringRef component : llvm::split(path, '.')) {
    if (component.empty() || !llvm::all_of(component, llvm::isDigit))
      continue;
    int64_t number = 0;
    if (component.getAsInteger(10, number) || std::to_string(number) != component)
      return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

LayerNumbers::LayerNumbers(const std::vector<std::string> &all) {
  for (const std::string &path : all) {
    std::string key = withoutIndices(path);
    std::optional<std::vector<int64_t>> own = numbersOf(path);
    keys.insert(key);
    if (!own) {
      unlisted.insert(std::move(key));
      continue;
    }
    size_t at = 0;
    for (int64_t number : *own) {
      at = key.find('*', at);
      children[key.substr(0, at++)].insert(number);
    }
    numbers[std::move(key)].push_back(std::move(*own));
  }
}

bool LayerNumbers::isExact(const std::string &key, const Lists &lists, size_t count) const {
  auto matches = [&](const std::vector<int64_t> &own) {
    return llvm::all_of(llvm::zip(lists, own), [](const auto &entry) {
      const auto &[list, number] = entry;
      return list.empty() || list.count(number);
    });
  };
  return static_cast<size_t>(llvm::count_if(numbers.at(key), matches)) == count;
}

/// True if a number has siblings, so that it numbers the layers of a list.
bool LayerNumbers::hasSiblings(StringRef key, size_t position) const {
  size_t at = key.find('*');
  for (size_t index = 0; index < position; ++index)
    at = key.find('*', at + 1);
  return children.at(key.take_front(at).str()).size() > 1;
}

/// True if another path has a name where the pattern has a star: a star matches names and numbers.
bool LayerNumbers::matchesNames(const std::string &key, const Lists &lists) const {
  llvm::SmallVector<StringRef> own(llvm::split(key, '.'));
  auto matches = [&](const std::string &other) {
    llvm::SmallVector<StringRef> components(llvm::split(other, '.'));
    if (other == key || components.size() != own.size())
      return false;
    auto list = lists.begin();
    for (auto [mine, component] : llvm::zip(own, components)) {
      bool isStar = mine == "*" && (list++)->empty();
      if (!isStar && mine != component)
        return false;
    }
    return true;
  };
  return llvm::any_of(keys, matches);
}

/// "3", or "{0..5, 7}".
static std::string listText(const std::set<int64_t> &list) {
  std::vector<int64_t> numbers(list.begin(), list.end());
  std::vector<std::string> ranges;
  for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;)
      ++end;
    std::string first = std::to_string(numbers[begin]);
    if (end - begin > 2)
      ranges.push_back(first + ".." + std::to_string(numbers[end - 1]));
    else
      for (size_t index = begin; index < end; ++index)
        ranges.push_back(std::to_string(numbers[index]));
  }
  return numbers.size() == 1 ? ranges.front() : "{" + llvm::join(ranges, ", ") + "}";
}

std::optional<std::string> LayerNumbers::patternOf(const std::vector<std::string> &paths) const {
  std::string key = withoutIndices(paths.front());
  if (unlisted.count(key))
    return std::nullopt;
  Lists lists(llvm::count(key, '*'));
  for (const std::string &path : paths)
    for (auto [list, number] : llvm::zip(lists, *numbersOf(path)))
      list.insert(number);
  // Lists combine freely: {0, 1} and {2, 3} also name 0.3 and 1.2, which may have another style.
  if (!isExact(key, lists, paths.size()))
    return std::nullopt;
  for (size_t position = 0; position < lists.size(); ++position) {
    Lists wider = lists;
    wider[position].clear();
    // A star instead of a list where it names exactly the same modules: the plan then fits a model with another number
    // of layers.
    if (hasSiblings(key, position) && isExact(key, wider, paths.size()) && !matchesNames(key, wider))
      lists = std::move(wider);
  }
  std::string pattern;
  StringRef rest = key;
  for (const std::set<int64_t> &list : lists) {
    auto [before, after] = rest.split('*');
    pattern += before.str() + (list.empty() ? "*" : listText(list));
    rest = after;
  }
  return pattern + rest.str();
}
