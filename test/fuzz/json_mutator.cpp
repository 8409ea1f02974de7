//===- json_mutator.cpp - another JSON text of the same kind --------------===//

#include "test/fuzz/json_mutator.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace meshplan::fuzz {

namespace {

using Json = nlohmann::json;

/// nlohmann's `dump` recurses, and the sanitizer's stack frames are large.
constexpr size_t deepestTree = 200;

class JsonMutator {
public:
  explicit JsonMutator(unsigned int seed) : random(seed) {}

  std::string mutate(const std::string &text);

private:
  size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); }
  std::string mutateBytes(std::string text, size_t growth);

  void collect(Json &tree, size_t depth);
  Json borderCase();
  void changeNumber(Json &node);
  void changeMembers(Json &node);
  void change(Json &node);

  std::mt19937 random;
  std::vector<Json *> nodes;
  size_t depth = 0;
};

std::string JsonMutator::mutateBytes(std::string text, size_t growth) {
  size_t size = text.size();
  text.resize(size + growth);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), size, text.size()));
  return text;
}

void JsonMutator::collect(Json &tree, size_t level) {
  nodes.push_back(&tree);
  depth = std::max(depth, level);
  if (tree.is_structured() && level < deepestTree)
    for (Json &child : tree)
      collect(child, level + 1);
}

Json JsonMutator::borderCase() {
  static const std::vector<Json> cases = {
      nullptr,   true,      false,      0,   1,    -1,    2,  INT_MAX, int64_t(1) << 31, int64_t(1) << 62,
      INT64_MAX, INT64_MIN, UINT64_MAX, 0.5, -0.0, 1e300, "", "x",     Json::array(),    Json::object()};
  return cases[below(cases.size())];
}

void JsonMutator::changeNumber(Json &node) {
  uint64_t bits = node.is_number_float() ? 0 : node.get<uint64_t>();
  uint64_t step = uint64_t(1) << below(63);
  node = static_cast<int64_t>(below(2) ? bits + step : bits - step);
}

/// Removes a member or duplicates it.
void JsonMutator::changeMembers(Json &node) {
  if (node.empty())
    return;
  auto member = std::next(node.begin(), static_cast<ptrdiff_t>(below(node.size())));
  if (below(2))
    node.erase(member);
  else if (node.is_array())
    node.insert(member, Json(*member));
  else
    node[mutateBytes(member.key(), 4)] = Json(*member);
}

void JsonMutator::change(Json &node) {
  switch (below(4)) {
  case 0:
    node = borderCase();
    break;
  case 1:
    node = Json(*nodes[below(nodes.size())]);
    break;
  default:
    if (node.is_structured())
      changeMembers(node);
    else if (node.is_string())
      node = mutateBytes(node.get<std::string>(), 16);
    else if (node.is_number())
      changeNumber(node);
    else
      node = borderCase();
  }
}

std::string JsonMutator::mutate(const std::string &text) {
  Json tree = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_discarded())
    collect(tree, 0);
  if (tree.is_discarded() || depth >= deepestTree || below(16) == 0)
    return mutateBytes(text, 64);
  Json &node = *nodes[below(nodes.size())];
  bool nests = below(256) == 0;
  if (nests)
    node = "nested here";
  else
    change(node);
  std::string result = tree.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (size_t at = result.find("\"nested here\""); nests && at != std::string::npos) {
    size_t levels = size_t(1) << below(16);
    result.replace(at, std::string("\"nested here\"").size(), std::string(levels, '[') + std::string(levels, ']'));
  }
  return result;
}

} // namespace

std::string mutateJson(const std::string &text, unsigned int seed) { return JsonMutator(seed).mutate(text); }

} // namespace meshplan::fuzz
