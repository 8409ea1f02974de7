//===- init_command.cpp - meshplan init -----------------------------------===//
//
// Whether the plan may be written is checked before the model is read, which takes seconds for a large archive, and
// nothing is overwritten without `--force`: the file may be a plan that a person has edited.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/huggingface.h"
#include "compiler/archive/read_archive.h"
#include "compiler/draft/draft_plan.h"
#include "compiler/support/nearest.h"
#include "compiler/support/write_file.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct InitCommand {
  DraftOptions options;
  std::string mesh;
  std::string output;
  std::vector<std::string> from; ///< the kind of a foreign plan, and the plan itself if it is not in the archive
  int64_t ranks = 0;
  std::string loss; ///< preceded by a blank: the option has no value
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

/// False, after reporting an error, if a file would be lost or there is no folder to write to.
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
  // Without tensor axes only experts of mixtures are divided, over the data axes.
  std::string divided = tensor.empty() && plan.divided + plan.dividedOthers > 0 ? data : tensor;
  if (!divided.empty())
    llvm::outs() << plan.divided << " of " << plan.modules << " modules have a style over " << divided;
  if (!divided.empty() && plan.dividedOthers > 0)
    llvm::outs() << ", and " << plan.dividedOthers << " without parameters";
  if (!divided.empty() && !data.empty())
    llvm::outs() << ", ";
  if (!data.empty())
    llvm::outs() << "the batch is " << (plan.splitsBatch ? "split over " + data : "whole");
  llvm::outs() << '\n';
}

/// Reports a usage error in the form that all commands use.
static bool failUsage(const std::string &message, const std::string &help = "see 'meshplan init --help'") {
  llvm::errs() << "meshplan init: error: " << message << "\nhelp: " << help << '\n';
  return false;
}

constexpr const char *megatronHelp =
    "put the flags in quotes: --from megatron \"--tensor-model-parallel-size 2 --bf16\"";

/// Checks combinations of options.
bool InitCommand::checkUsage() {
  using Kind = ForeignPlan::Kind;
  std::string kind = from.empty() ? "" : from.front();
  // The model may come after the plan, and `hf` needs no plan.
  if (options.modelFile.empty() && from.size() == (kind == "hf" && from.size() < 3 ? 2 : 3)) {
    options.modelFile = from.back();
    from.pop_back();
  }
  options.from.kind = kind == "hf"          ? Kind::huggingface
                      : kind == "automodel" ? Kind::automodel
                      : kind == "megatron"  ? Kind::megatron
                                            : Kind::none;
  if (!from.empty() && options.from.kind == Kind::none)
    return failUsage("--from: '" + kind + "' is none of hf, automodel, megatron",
                     suggest(kind, {"hf", "automodel", "megatron"}, "kinds"));
  if (from.size() > 2)
    return failUsage("unexpected argument '" + from[2] + "'",
                     kind == "megatron" ? megatronHelp
                                        : "--from takes a kind and a plan: --from automodel recipe.yaml");
  if (options.modelFile.empty())
    return failUsage("model is required");
  bool saysMesh = options.from.kind == Kind::automodel || options.from.kind == Kind::megatron;
  if (saysMesh && from.size() < 2)
    return failUsage("--from " + kind + " needs " + (kind == "megatron" ? "flags" : "a file"),
                     kind == "megatron" ? megatronHelp : "--from automodel recipe.yaml");
  if (mesh.empty() && !saysMesh)
    return failUsage("--mesh is required");
  if (ranks > 0 && !(saysMesh && mesh.empty()))
    return failUsage("--ranks sets the number of ranks for --from automodel and --from megatron without --mesh",
                     "--mesh has the sizes of all axes");
  if (!mesh.empty())
    options.mesh = llvm::cantFail(parseDraftMesh(mesh)); // checked with the command line
  if (ranks > 0)
    options.ranks = ranks;
  bool hasTensor = !axesOfRole(options.mesh, AxisRole::tensor).empty();
  constexpr const char *axesHelp = "tensor axes are tp, model, tensor or mp";
  if (options.sequence && !options.mesh.empty() && !hasTensor)
    return failUsage("--sequence splits the sequence over tensor axes, and --mesh has none", axesHelp);
  if (options.from.kind == Kind::huggingface && !hasTensor)
    return failUsage("--from hf splits weights over tensor axes, and --mesh has none", axesHelp);
  return true;
}

/// Reads the plan that the exporter stored in the archive.
bool InitCommand::readArchivePlan(Sources &sources, Diagnostics &diagnostics) {
  archive::ExtraFile file = archive::readExtraFile(options.modelFile, parallelPlanFile);
  int32_t modelFile = sources.find(options.modelFile)->file();
  if (!file.errors.empty()) {
    reportArchive(file.errors, options.modelFile, modelFile, diagnostics);
    return false;
  }
  if (!file.text) {
    diagnostics.error({modelFile}, "has no parallel plan of transformers")
        .help("tools/export_model.py, 'python -m meshplan.export' and 'meshplan.export(model)' leave it in the archive "
              "of a model of transformers that has one, but not of a module around it")
        .help("'--from hf FILE.json' reads one: json.dump({\"base_model_tp_plan\": model.config.base_model_tp_plan}, "
              "file)");
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
    options.from.source = &sources.add("--from megatron", llvm::StringRef(from.back()).ltrim().str());
    return true;
  }
  auto file = llvm::MemoryBuffer::getFile(from.back());
  if (!file) {
    diagnostics.error({sources.add(from.back()).file()},
                      "cannot be read: " + llvm::StringRef(file.getError().message()).lower());
    return false;
  }
  llvm::StringRef text = (*file)->getBuffer();
  if (text.contains('\0') || !llvm::json::isUTF8(text)) {
    bool isHf = options.from.kind == ForeignPlan::Kind::huggingface;
    diagnostics.error({sources.add(from.back()).file()}, "is not a text file")
        .help(isHf ? "'--from hf FILE.json' reads a configuration, and '--from hf' the plan that is in the archive"
                   : "'--from automodel FILE.yaml' reads a recipe, and the archive is an argument of its own");
    return false;
  }
  options.from.source = &sources.add(from.back(), text.str());
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
  app.add_option("--from", command->from, "follow a foreign plan: hf [FILE.json], automodel FILE.yaml, megatron FLAGS")
      ->type_name("KIND [PLAN]")
      ->expected(1, 1 << 10); // the model may follow, and superfluous arguments are reported by name
  app.add_option("--ranks", command->ranks, "number of ranks, if the foreign plan does not state it")
      ->check(positiveInteger(int64_t(1) << 30));
  app.add_flag("--loss{ }", command->loss, "draft the loss; --loss=NAME names the output");
  app.add_flag("--train", command->options.train, "draft loss, optimizer and data block");
  app.add_option("-o,--output", command->output, "plan to write; default: the archive's name with .plan")
      ->check(fileName());
  app.add_flag("--sequence", command->options.sequence, "norms split the sequence over the tensor axes");
  app.add_flag("--force", command->force, "overwrite the plan if it exists");
  app.footer("The names of axes tell their roles: dp, data, fsdp and batch split the batch, tp, model, tensor and "
             "mp split weights.");
  return [command] { return command->run(); };
}
