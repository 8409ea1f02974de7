//===- plan_messages.cpp - the exact messages of plans, case by case -------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "test/unit/frontend/models.h"

#include <fstream>
#include <iostream>
#include <sstream>

using namespace meshplan;
using namespace meshplan::test;

namespace {

struct Case {
  std::string head, plan, expected;
};

std::vector<Case> casesIn(std::istream &file) {
  std::vector<Case> cases;
  std::string *part = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("// ----- ")) {
      part = &cases.emplace_back(Case{line.substr(9), "", ""}).plan;
    } else if (line == "// says" && part) {
      part = &cases.back().expected;
    } else if (part) {
      *part += line + "\n";
    }
  }
  return cases;
}

/// False for a word that names no model.
bool change(ModelOutline &model, const std::string &word) {
  if (word == "tied") {
    model = llama(2, /*tied=*/true);
  } else if (word == "symbolic") {
    for (OutlineValue &input : model.inputs)
      input.dims = {{0, "s0"}, {0, "s1"}};
    for (size_t dim : {0, 1})
      model.outputs[1].dims[dim] = model.inputs[0].dims[dim];
  } else if (word == "head-only") {
    for (size_t i = 0; i + 1 < model.parameters.size(); ++i)
      model.parameters[i].requiresGrad = false;
  } else if (word == "two-losses") {
    model.outputs.push_back({"aux", {}});
  } else if (word == "no-loss") {
    model.outputs.erase(model.outputs.begin());
  } else {
    return false;
  }
  return true;
}

/// What is wrong with a case; empty for nothing.
std::string fault(const Case &each) {
  std::istringstream words(each.head);
  std::string word;
  words >> word; // the name
  ModelOutline model = llama(2);
  std::vector<Definition> definitions;
  while (words >> word) {
    size_t equals = word.find('=');
    if (word.starts_with("-D") && equals != std::string::npos)
      definitions.push_back({word.substr(2, equals - 2), word.substr(equals + 1)});
    else if (!change(model, word))
      return "there is no model '" + word + "'\n";
  }
  Outcome outcome = bindTo(model, each.plan, definitions);
  if (outcome.text != each.expected)
    return "expected:\n" + each.expected + "found:\n" + outcome.text;
  bool isError = outcome.text.find("error: ") != std::string::npos;
  if (outcome.plan.has_value() == isError)
    return isError ? "there is a plan, and an error\n" : "there is neither a plan nor an error\n";
  return "";
}

} // namespace

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::vector<Case> cases = casesIn(file);
  if (cases.empty()) {
    std::cerr << "plan-messages: error: the argument must be a file with cases; see test/lib/messages/README.md\n";
    return 2;
  }
  size_t wrong = 0;
  for (const Case &each : cases)
    if (std::string said = fault(each); !said.empty()) {
      ++wrong;
      std::cout << each.head << ": " << said << "\n";
    }
  std::cout << cases.size() << " cases, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
