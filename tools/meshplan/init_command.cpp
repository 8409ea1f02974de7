//===- init_command.cpp - meshplan init -----------------------------------===//

#include "compiler/draft/draft_plan.h"
#include "compiler/support/write_file.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct InitCommand {
  DraftOptions options;
  std::string mesh;
  std::string output;
  bool force = false;

  int run();

private:
  std::string planFile() const;
  bool mayWrite() const;
  void print(const DraftedPlan &plan) const;
};

} // namespace

std::string InitCommand::planFile() const {
  if (!output.empty())
    return output;
  llvm::SmallString<128> beside(options.modelFile);
  llvm::sys::path::replace_extension(beside, "plan");
  return beside.str().str();
}

/// False if there is something that would be lost or no folder to write to; says so.
bool InitCommand::mayWrite() const {
  llvm::StringRef folder = llvm::sys::path::parent_path(options.planFile);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder)) {
    llvm::errs() << "meshplan init: error: '" << options.planFile << "' cannot be written: there is no folder '"
                 << folder << "'\n";
    return false;
  }
  if (llvm::sys::fs::equivalent(options.planFile, options.modelFile)) {
    llvm::errs() << "meshplan init: error: '" << options.planFile
                 << "' is the model and would be overwritten\nhelp: name another file with -o\n";
    return false;
  }
  if (!force && llvm::sys::fs::exists(options.planFile)) {
    llvm::errs() << "meshplan init: error: '" << options.planFile
                 << "' exists\nhelp: -o FILE names another, --force overwrites it\n";
    return false;
  }
  return true;
}

void InitCommand::print(const DraftedPlan &plan) const {
  std::string tensor = axesOfRole(options.mesh, AxisRole::tensor), data = axesOfRole(options.mesh, AxisRole::data);
  llvm::outs() << options.planFile << ": ";
  if (!tensor.empty())
    llvm::outs() << plan.divided << " of " << plan.modules << " modules have a style over " << tensor;
  if (!tensor.empty() && plan.dividedOthers > 0)
    llvm::outs() << ", and " << plan.dividedOthers << " without parameters";
  if (!tensor.empty() && !data.empty())
    llvm::outs() << ", ";
  if (!data.empty())
    llvm::outs() << "the batch is " << (plan.splitsBatch ? "divided over " + data : "whole");
  llvm::outs() << '\n';
}

int InitCommand::run() {
  options.planFile = planFile();
  options.mesh = llvm::cantFail(parseDraftMesh(mesh)); // checked with the command line
  if (options.sequence && axesOfRole(options.mesh, AxisRole::tensor).empty()) {
    llvm::errs() << "meshplan init: error: --sequence divides the sequence over tensor axes, and --mesh has none\n"
                    "help: tensor axes are tp, model, tensor or mp\n";
    return 2;
  }
  if (!mayWrite())
    return 2;
  Sources sources;
  Diagnostics diagnostics(sources);
  sources.add(options.modelFile);
  std::optional<DraftedPlan> plan = draftPlan(options, diagnostics);
  diagnostics.print(llvm::errs());
  if (!plan)
    return 1;
  if (llvm::Error error = writeFileAtomically(options.planFile, plan->text)) {
    llvm::errs() << "meshplan: error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  print(*plan);
  return 0;
}

Command meshplan::addInit(CLI::App &app) {
  auto command = std::make_shared<InitCommand>();
  auto isMesh = [](const std::string &text) {
    llvm::Expected<std::vector<DraftAxis>> axes = parseDraftMesh(text);
    return axes ? std::string() : llvm::toString(axes.takeError());
  };
  app.add_option("model", command->options.modelFile, "archive that torch.export.save wrote")->required();
  app.add_option("--mesh", command->mesh, "axes, outermost first: dp=2,tp=3")
      ->type_name("AXIS=SIZE,...")
      ->required()
      ->check(isMesh);
  app.add_option("-o,--output", command->output, "plan to write; default: the archive's name with .plan")
      ->check(fileName());
  app.add_flag("--sequence", command->options.sequence, "norms divide the sequence over the tensor axes");
  app.add_flag("--force", command->force, "overwrite the plan if it exists");
  app.footer(
      "The names of axes say what they are for: dp, data, fsdp and batch divide the batch, tp, model, tensor and "
      "mp divide weights.");
  return [command] { return command->run(); };
}
