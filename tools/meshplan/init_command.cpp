//===- init_command.cpp - meshplan init -----------------------------------===//

#include "compiler/adopt/huggingface.h"
#include "compiler/archive/read_archive.h"
#include "compiler/draft/draft_plan.h"
#include "compiler/support/write_file.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct InitCommand {
  DraftOptions options;
  std::string mesh;
  std::string output;
  std::vector<std::string> from; ///< the kind of a foreign plan, and the plan where it needs a name
  int64_t ranks = 0;
  std::string loss; ///< with a blank in front: the option has no value
  bool force = false;

  int run();

private:
  bool checkUsage();
  bool readForeignPlan(Sources &sources, Diagnostics &diagnostics);
  bool readArchivePlan(Sources &sources, Diagnostics &diagnostics);
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
  std::string tensor = axesOfRole(plan.mesh, AxisRole::tensor), data = axesOfRole(plan.mesh, AxisRole::data);
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

/// Says what is wrong with a command line, as that of all commands is said.
static bool failUsage(const std::string &message, const std::string &help = "see 'meshplan init --help'") {
  llvm::errs() << "meshplan init: error: " << message << "\nhelp: " << help << '\n';
  return false;
}

/// What options need of each other.
bool InitCommand::checkUsage() {
  using Kind = ForeignPlan::Kind;
  if (from.size() == 2 && from.front() == "hf" && options.modelFile.empty()) {
    // `--from hf model.pt2`: what follows is the model, since `hf` needs nothing.
    options.modelFile = from.back();
    from.pop_back();
  }
  if (options.modelFile.empty())
    return failUsage("model is required");
  std::string kind = from.empty() ? "" : from.front();
  options.from.kind = kind == "hf"          ? Kind::huggingface
                      : kind == "automodel" ? Kind::automodel
                      : kind == "megatron"  ? Kind::megatron
                                            : Kind::none;
  if (!from.empty() && options.from.kind == Kind::none)
    return failUsage("--from: '" + kind + "' is none of hf, automodel, megatron");
  bool saysMesh = options.from.kind == Kind::automodel || options.from.kind == Kind::megatron;
  if (saysMesh && from.size() < 2)
    return failUsage("--from " + kind + " needs " + (kind == "megatron" ? "flags" : "a file"),
                     kind == "megatron" ? "--from megatron \"--tensor-model-parallel-size 2 --bf16\""
                                        : "--from automodel recipe.yaml");
  if (mesh.empty() && !saysMesh)
    return failUsage("--mesh is required");
  if (ranks > 0 && !(saysMesh && mesh.empty()))
    return failUsage("--ranks says the number of ranks for --from automodel and --from megatron without --mesh",
                     "--mesh has the sizes of all axes");
  if (!mesh.empty())
    options.mesh = llvm::cantFail(parseDraftMesh(mesh)); // checked with the command line
  if (ranks > 0)
    options.ranks = ranks;
  bool hasTensor = !axesOfRole(options.mesh, AxisRole::tensor).empty();
  constexpr const char *axesHelp = "tensor axes are tp, model, tensor or mp";
  if (options.sequence && !options.mesh.empty() && !hasTensor)
    return failUsage("--sequence divides the sequence over tensor axes, and --mesh has none", axesHelp);
  if (options.from.kind == Kind::huggingface && !hasTensor)
    return failUsage("--from hf divides weights over tensor axes, and --mesh has none", axesHelp);
  return true;
}

/// The plan that the exporter left in the archive.
bool InitCommand::readArchivePlan(Sources &sources, Diagnostics &diagnostics) {
  archive::ExtraFile file = archive::readExtraFile(options.modelFile, parallelPlanFile);
  int32_t place = sources.find(options.modelFile)->file();
  if (!file.errors.empty()) {
    reportArchive(file.errors, options.modelFile, place, diagnostics);
    return false;
  }
  if (!file.text) {
    diagnostics.error({place}, "has no parallel plan of transformers")
        .help("tools/export_model.py leaves it in the archive of a model that has one; '--from hf FILE.json' reads a "
              "configuration");
    return false;
  }
  options.from.source = &sources.add(options.modelFile + "/" + parallelPlanFile, *file.text);
  return true;
}

bool InitCommand::readForeignPlan(Sources &sources, Diagnostics &diagnostics) {
  if (options.from.kind == ForeignPlan::Kind::none)
    return true;
  if (from.size() < 2)
    return readArchivePlan(sources, diagnostics);
  if (options.from.kind == ForeignPlan::Kind::megatron) {
    options.from.source = &sources.add("--from megatron", from.back().substr(1)) /* behind the blank of main() */;
    return true;
  }
  auto file = llvm::MemoryBuffer::getFile(from.back());
  if (!file) {
    diagnostics.error({sources.add(from.back()).file()},
                      "cannot be read: " + llvm::StringRef(file.getError().message()).lower());
    return false;
  }
  options.from.source = &sources.add(from.back(), (*file)->getBuffer().str());
  return true;
}

int InitCommand::run() {
  if (!checkUsage())
    return 2;
  options.planFile = planFile();
  if (!loss.empty())
    options.loss = llvm::StringRef(loss).ltrim().str();
  if (!mayWrite())
    return 2;
  Sources sources;
  Diagnostics diagnostics(sources);
  sources.add(options.modelFile);
  std::optional<DraftedPlan> plan;
  if (readForeignPlan(sources, diagnostics))
    plan = draftPlan(options, diagnostics);
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
  app.add_option("model", command->options.modelFile, "archive that torch.export.save wrote");
  app.add_option("--mesh", command->mesh, "axes, outermost first: dp=2,tp=3")
      ->type_name("AXIS=SIZE,...")
      ->check(isMesh);
  app.add_option("--from", command->from,
                 "follow a plan of others: hf [FILE.json], automodel FILE.yaml, megatron FLAGS")
      ->type_name("KIND [PLAN]")
      ->expected(1, 2);
  app.add_option("--ranks", command->ranks, "number of ranks, where the plan of others does not say it")
      ->check(positiveInteger(int64_t(1) << 30));
  app.add_flag("--loss{ }", command->loss, "draft the loss; --loss=NAME says which output it is");
  app.add_flag("--train", command->options.train, "draft loss, optimizer and data block");
  app.add_option("-o,--output", command->output, "plan to write; default: the archive's name with .plan")
      ->check(fileName());
  app.add_flag("--sequence", command->options.sequence, "norms divide the sequence over the tensor axes");
  app.add_flag("--force", command->force, "overwrite the plan if it exists");
  app.footer(
      "The names of axes say what they are for: dp, data, fsdp and batch divide the batch, tp, model, tensor and "
      "mp divide weights.");
  return [command] { return command->run(); };
}
