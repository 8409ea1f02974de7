//===- format_command.cpp - meshplan fmt ----------------------------------===//

#include "compiler/frontend/format.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/write_file.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct FormatCommand {
  std::vector<std::string> files;
  bool check = false;

  int run() {
    int status = 0;
    for (const std::string &file : files)
      status |= format(file);
    return status;
  }

  /// 0 if the file is, or has been rewritten to, the canonical form.
  int format(const std::string &file) {
    Sources sources;
    Diagnostics diagnostics(sources);
    auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    const SourceBuffer &source = sources.add(file, text ? (*text)->getBuffer().str() : "");
    if (!text)
      diagnostics.error({source.file()}, "cannot be read: " + text.getError().message());
    std::optional<std::string> formatted = text ? formatPlan(source, diagnostics) : std::nullopt;
    diagnostics.print(llvm::errs());
    if (!formatted)
      return 1;
    if (*formatted == source.text())
      return 0;
    if (check) {
      llvm::errs() << file << ": not in canonical form\n";
      return 1;
    }
    llvm::Error error = writeFileAtomically(file, *formatted);
    if (!error)
      return 0;
    llvm::errs() << "meshplan: error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
};

} // namespace

Command meshplan::addFormat(CLI::App &app) {
  auto command = std::make_shared<FormatCommand>();
  app.add_option("files", command->files, "plan files; rewritten in place")->required();
  app.add_flag("--check", command->check, "write nothing; status 1 if a file is not in canonical form");
  return [command] { return command->run(); };
}
