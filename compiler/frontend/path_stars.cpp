//===- path_stars.cpp - what the stars of a pattern stand for --------------===//

#include "compiler/frontend/path_stars.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using Kind = PatternNode::Kind;

namespace {

bool isStar(const PatternNode &node) { return node.kind == Kind::Star || node.kind == Kind::DoubleStar; }

bool isDoubleStar(const PatternSequence &component) {
  return component.size() == 1 && component[0].kind == Kind::DoubleStar;
}

/// The items that a star matches.
struct Taken {
  size_t star; ///< index of the element
  size_t begin;
  size_t count = 0;
};

} // namespace

/// Matches all items with elements, of which each star takes as few as possible, from the left. Where an element does
/// not match, the last star takes one item more: stars before it need not change, as what is between two stars has been
/// found as early as possible.
template <typename Element, typename Item, typename IsStar, typename IsMatch>
static std::optional<std::vector<Taken>> takeItems(llvm::ArrayRef<Element> elements, llvm::ArrayRef<Item> items,
                                                   IsStar isStar, IsMatch isMatch) {
  std::vector<Taken> stars;
  size_t element = 0, item = 0;
  while (element < elements.size() || item < items.size()) {
    if (element < elements.size() && isStar(elements[element])) {
      stars.push_back({element++, item});
    } else if (element < elements.size() && item < items.size() && isMatch(elements[element], items[item])) {
      ++element, ++item;
    } else if (stars.empty() || stars.back().begin + stars.back().count == items.size()) {
      return std::nullopt;
    } else {
      Taken &last = stars.back();
      element = last.star + 1;
      item = last.begin + ++last.count;
    }
  }
  return stars;
}

/// What the stars of one component match in the name of a component.
static std::optional<std::vector<std::string>> matchComponent(const PatternSequence &pattern, llvm::StringRef name) {
  std::optional<std::vector<Taken>> stars =
      takeItems(llvm::ArrayRef(pattern), llvm::ArrayRef(name.data(), name.size()), isStar,
                [](const PatternNode &node, char character) { return node.character == character; });
  if (!stars)
    return std::nullopt;
  std::vector<std::string> matched;
  for (const Taken &star : *stars)
    matched.push_back(name.substr(star.begin, star.count).str());
  return matched;
}

std::optional<std::vector<std::string>> meshplan::starMatches(const PatternSequence &pattern, llvm::StringRef path) {
  std::vector<PatternSequence> components = patternComponents(pattern);
  llvm::SmallVector<llvm::StringRef> names;
  path.split(names, '.');
  std::optional<std::vector<Taken>> taken = takeItems(llvm::ArrayRef(components), llvm::ArrayRef(names), isDoubleStar,
                                                      [](const PatternSequence &component, llvm::StringRef name) {
                                                        return matchComponent(component, name).has_value();
                                                      });
  if (!taken)
    return std::nullopt;
  std::vector<std::string> matched;
  size_t name = 0, star = 0;
  for (const PatternSequence &component : components) {
    size_t count = 1;
    if (isDoubleStar(component)) {
      count = (*taken)[star++].count;
      matched.push_back(llvm::join(llvm::ArrayRef(names).slice(name, count), "."));
    } else {
      llvm::append_range(matched, *matchComponent(component, names[name]));
    }
    name += count;
  }
  return matched;
}

std::pair<std::string, std::string> meshplan::replaceStars(const PatternSequence &pattern,
                                                           llvm::ArrayRef<std::string> texts) {
  constexpr char divider = '\0'; // no path has it
  std::string path;
  for (const PatternSequence &component : patternComponents(pattern)) {
    std::string name;
    for (const PatternNode &node : component) {
      if (!isStar(node)) {
        name += node.text;
      } else if (texts.empty()) {
        name += divider;
      } else {
        name += texts.front();
        texts = texts.drop_front();
      }
    }
    if (!name.empty())
      path += (path.empty() ? "" : ".") + name;
  }
  auto [before, after] = llvm::StringRef(path).split(divider);
  return {before.str(), after.str()};
}

std::vector<std::string> meshplan::starsOf(const PatternSequence &pattern) {
  std::vector<std::string> stars;
  for (const PatternNode &node : pattern)
    if (isStar(node))
      stars.push_back(node.text);
  return stars;
}

bool meshplan::hasStarInBraces(const PatternSequence &pattern) {
  return llvm::any_of(pattern, [](const PatternNode &node) {
    return llvm::any_of(node.alternatives, [](const PatternSequence &alternative) {
      return llvm::any_of(alternative, isStar) || hasStarInBraces(alternative);
    });
  });
}

std::vector<PatternSequence> meshplan::choicesOf(llvm::ArrayRef<PatternNode> pattern, size_t most) {
  std::vector<PatternSequence> result(1);
  for (const PatternNode &node : pattern) {
    if (node.kind != Kind::Alternatives) {
      for (PatternSequence &each : result)
        each.push_back(node);
      continue;
    }
    std::vector<PatternSequence> inner;
    for (const PatternSequence &alternative : node.alternatives) {
      std::vector<PatternSequence> chosen = choicesOf(alternative, most);
      if (chosen.empty() || inner.size() + chosen.size() > most)
        return {};
      llvm::append_range(inner, chosen);
    }
    if (inner.empty() || inner.size() > most / result.size())
      return {};
    std::vector<PatternSequence> longer;
    for (const PatternSequence &each : result)
      for (const PatternSequence &chosen : inner) {
        longer.push_back(each);
        llvm::append_range(longer.back(), chosen);
      }
    result = std::move(longer);
  }
  return result;
}
