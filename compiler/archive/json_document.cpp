//===- json_document.cpp - checked access to a JSON member -------*- C++ -*-===//

#include "compiler/archive/json_document.h"

#include <limits>

namespace meshplan::archive {

namespace {

const Json emptyNode;
const Json emptyArray = Json::array();
const Json emptyObject = Json::object();

/// Limit for the errors of one document; more would not help.
constexpr size_t maxErrors = 20;

/// Deeper texts are refused, so that recursion over the tree cannot exhaust the stack.
constexpr size_t maxDepth = 200;

/// Path of the node at this address, such as `graph.nodes[3].target`.
bool findPath(const Json &from, const Json &node, std::string &path) {
  if (&from == &node)
    return true;
  size_t length = path.size();
  if (from.is_object()) {
    for (auto it = from.begin(); it != from.end(); ++it) {
      path.append(path.empty() ? "" : ".").append(it.key());
      if (findPath(*it, node, path))
        return true;
      path.resize(length);
    }
  } else if (from.is_array()) {
    for (size_t i = 0; i < from.size(); ++i) {
      path.append("[").append(std::to_string(i)).append("]");
      if (findPath(from[i], node, path))
        return true;
      path.resize(length);
    }
  }
  return false;
}

/// Nesting of brackets outside strings.
size_t nestingDepth(llvm::StringRef text) {
  size_t depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

} // namespace

JsonDocument::JsonDocument(std::string name, llvm::StringRef text, std::vector<Diagnostic> &errors)
    : name(std::move(name)), errors(errors) {
  std::string problem;
  if (nestingDepth(text) > maxDepth) {
    problem = "nested deeper than " + std::to_string(maxDepth) + " levels";
  } else {
    try {
      tree = Json::parse(text.begin(), text.end());
      return;
    } catch (const Json::parse_error &error) {
      problem = "not valid JSON at byte " + std::to_string(error.byte);
    } catch (const Json::out_of_range &) {
      problem = "it has a number that does not fit in 64 bits";
    }
  }
  errors.push_back({"'" + this->name + "': " + problem, {}, ""});
  hasFailed = true;
}

const Json &JsonDocument::member(const Json &object, const char *key) {
  if (!object.is_object()) {
    expected(object, "an object");
    return emptyNode;
  }
  auto it = object.find(key);
  if (it != object.end())
    return *it;
  fail(object, llvm::Twine("has no member '") + key + "'");
  return emptyNode;
}

const Json *JsonDocument::optionalMember(const Json &object, const char *key) {
  if (!object.is_object()) {
    expected(object, "an object");
    return nullptr;
  }
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json &JsonDocument::array(const Json &node) {
  if (node.is_array())
    return node;
  expected(node, "an array");
  return emptyArray;
}

const Json &JsonDocument::object(const Json &node) {
  if (node.is_object())
    return node;
  expected(node, "an object");
  return emptyObject;
}

std::pair<llvm::StringRef, const Json *> JsonDocument::unionMember(const Json &node) {
  if (node.is_object() && node.size() == 1)
    return {node.begin().key(), &node.begin().value()};
  expected(node, "an object with one member");
  return {"", &emptyNode};
}

std::string JsonDocument::string(const Json &node) {
  if (node.is_string())
    return node.get<std::string>();
  expected(node, "a string");
  return "";
}

int64_t JsonDocument::integer(const Json &node) {
  bool tooLarge = node.is_number_unsigned() && node.get<uint64_t>() > uint64_t(INT64_MAX);
  if (node.is_number_integer() && !tooLarge)
    return node.get<int64_t>();
  expected(node, "a 64-bit integer");
  return 0;
}

bool JsonDocument::boolean(const Json &node) {
  if (node.is_boolean())
    return node.get<bool>();
  expected(node, "true or false");
  return false;
}

double JsonDocument::number(const Json &node) {
  using Limits = std::numeric_limits<double>;
  if (node.is_number())
    return node.get<double>();
  if (node.is_string()) {
    const auto &text = node.get_ref<const std::string &>();
    if (text == "Infinity")
      return Limits::infinity();
    if (text == "-Infinity")
      return -Limits::infinity();
    if (text == "NaN")
      return Limits::quiet_NaN();
  }
  expected(node, "a number");
  return 0;
}

void JsonDocument::fail(const Json &node, const llvm::Twine &message, std::string help) {
  // Empty values that were returned after an earlier error are not part of the tree.
  std::string path;
  // The path is searched only for an error, so that nodes need no link to their parents.
  if (errors.size() < maxErrors && findPath(tree, node, path)) {
    std::string location = path.empty() ? "" : " at ";
    location += path;
    errors.push_back({("'" + llvm::Twine(name) + "'" + location + ": " + message).str(), {}, std::move(help)});
  }
  hasFailed = true;
}

void JsonDocument::expected(const Json &node, const char *what) {
  fail(node, llvm::Twine("expected ") + what + ", found " + node.type_name());
}

} // namespace meshplan::archive
