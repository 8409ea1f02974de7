//===- compile_options.cpp - flags that compile and check share -----------===//

#include "tools/meshplan/commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

void meshplan::addCompileOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions) {
  app.add_option("plan", options.planFile, "plan file")->required();
  app.add_option("-D", definitions, "NAME=VALUE: the value of an axis, a let or 'world'")->type_name("NAME=VALUE");
  app.add_flag("--strict", options.strict, "reshards that nothing in the plan asks for are errors");
  app.add_option("--device", options.device, "device that the program runs on")
      ->check(CLI::IsMember({"cpu"}))
      ->capture_default_str();
}

bool meshplan::splitDefinitions(const std::vector<std::string> &texts, CompileOptions &options) {
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.split('=');
    if (name.empty() || !text.contains('=')) {
      llvm::errs() << "meshplan: -D " << text << ": expected NAME=VALUE\n";
      return false;
    }
    options.definitions.push_back({name.str(), value.str()});
  }
  return true;
}
