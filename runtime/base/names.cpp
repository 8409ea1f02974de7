//===- names.cpp - lists and names in messages ----------------------------===//

#include "runtime/base/names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshplan {

namespace {

std::string join(std::span<const int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// Levenshtein distance, with one row of the table.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    // `diagonal` is the entry above and to the left, which the row no longer has when it is needed.
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::string rankList(std::span<const int64_t> ranks) { return (ranks.size() == 1 ? "rank " : "ranks ") + join(ranks); }

std::string shapeText(std::span<const int64_t> shape) { return "[" + join(shape) + "]"; }

std::string listOfFew(std::span<const std::string> texts, size_t most) {
  std::string list;
  for (const std::string &text : texts.first(std::min(texts.size(), most)))
    list += (list.empty() ? "" : ", ") + text;
  return texts.size() <= most ? list : list + " and " + std::to_string(texts.size() - most) + " more";
}

std::string nameList(std::span<const std::string> names) {
  constexpr size_t most = 4;
  std::vector<std::string> quoted;
  for (const std::string &name : names)
    quoted.push_back("'" + name + "'");
  return listOfFew(quoted, most);
}

std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates, size_t limit) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(name, candidate);
    if (distance * 2 <= std::max(name.size(), candidate.size()))
      ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(limit, ranked.size()); ++i)
    names.emplace_back(ranked[i].second);
  return names;
}

} // namespace meshplan
