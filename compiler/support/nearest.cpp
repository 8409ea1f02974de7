//===- nearest.cpp - the names that a user may have meant ------------------===//

#include "compiler/support/nearest.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

/// The smallest number of insertions, deletions, replacements and swaps of neighbours that turn one name into the
/// other.
static unsigned editDistance(llvm::StringRef left, llvm::StringRef right) {
  std::vector<std::vector<unsigned>> cost(left.size() + 1, std::vector<unsigned>(right.size() + 1));
  for (size_t i = 0; i <= left.size(); ++i)
    for (size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      bool isEqual = left[i - 1] == right[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (isEqual ? 0 : 1)});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[left.size()][right.size()];
}

std::vector<std::string> meshplan::nearestNames(llvm::StringRef name, llvm::ArrayRef<std::string> candidates,
                                                size_t limit) {
  for (const std::string &candidate : candidates)
    if (limit != 0 && name != candidate && name.equals_insensitive(candidate))
      return {candidate};
  // A third of the name, so that one wrong letter in `tp` is found, but `tp` is not proposed for `dp_ranks`. The
  // lengths are compared first, because the distance takes the product of both and there may be thousands of
  // candidates.
  unsigned bound = std::max<unsigned>(1, name.size() / 3);
  std::vector<std::pair<unsigned, const std::string *>> near;
  for (const std::string &candidate : candidates) {
    size_t longer = std::max(name.size(), candidate.size());
    size_t shorter = std::min(name.size(), candidate.size());
    if (longer - shorter > bound)
      continue;
    unsigned distance = editDistance(name, candidate);
    // A distance of the whole length means that no letter is shared.
    if (distance <= bound && distance < longer)
      near.push_back({distance, &candidate});
  }
  std::stable_sort(near.begin(), near.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto &[distance, candidate] : near)
    if (result.size() < limit && std::find(result.begin(), result.end(), *candidate) == result.end())
      result.push_back(*candidate);
  return result;
}

std::string meshplan::quotedList(llvm::ArrayRef<std::string> names, llvm::StringRef conjunction) {
  std::string last = conjunction == "," ? ", " : (llvm::Twine(" ") + conjunction + " ").str();
  std::string result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0)
      result += i + 1 == names.size() ? last : ", ";
    result += '\'';
    result += names[i];
    result += '\'';
  }
  return result;
}

std::string meshplan::suggest(llvm::StringRef name, llvm::ArrayRef<std::string> candidates, llvm::StringRef noun) {
  constexpr size_t mostListed = 12;
  if (std::vector<std::string> near = nearestNames(name, candidates); !near.empty())
    return ("did you mean " + llvm::Twine(quotedList(near)) + "?").str();
  if (candidates.empty() || candidates.size() > mostListed)
    return "";
  return (noun + ": " + quotedList(candidates, ",")).str();
}
