//===- read_archive.cpp - .pt2 file to exported program ----------*- C++ -*-===//
//
// The graph is read first, because the signature refers to its tensors. Checks
// come before rewrites: functional_check reports the operators of the model, not
// those of a rewritten graph. Gradients are stopped while nodes still have the
// form in which they were exported (givenBack depends on it), complex tensors
// are split next, and simplification comes last, as it also removes values that
// the other rewrites left without readers.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/read_archive.h"

#include "compiler/archive/bind_symbols.h"
#include "compiler/archive/complex/split_complex.h"
#include "compiler/archive/data_extents.h"
#include "compiler/archive/functional_check.h"
#include "compiler/archive/signature_reader.h"
#include "compiler/archive/simplify_graph.h"
#include "compiler/archive/stop_gradients.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace meshplan::archive {

namespace {

constexpr llvm::StringRef supportedFormat = "pt2";
constexpr llvm::StringRef supportedVersion = "0";
constexpr const char *exportHelp = "export the model again with torch.export.save of PyTorch 2.8 or newer";

class ArchiveReader {
public:
  ArchiveReader(const ZipArchive &archive, std::vector<Diagnostic> &errors) : archive(archive), errors(errors) {}

  std::optional<ExportedProgram> read();
  std::optional<std::string> readExtraFile(const std::string &name);
  void readBufferValues(ExportedProgram &program);

private:
  void fail(const std::string &problem, std::string help = "");

  /// All members are in one top folder, named after the file that was written.
  bool findFolder();
  std::optional<std::string> readMember(const std::string &name);
  bool checkText(const std::string &member, llvm::StringRef what, llvm::StringRef supported);
  bool checkFormat();
  std::optional<std::string> findModel();
  std::optional<PayloadTable> readTable(const std::string &subfolder, const std::string &file);
  std::optional<PayloadTable> readWeights(const std::string &model) {
    return readTable("data/weights/", model + "_weights_config.json");
  }
  bool checkSchema(JsonDocument &document);

  std::optional<ExportedProgram> readProgram(const std::string &member, const PayloadTable &weights,
                                             const PayloadTable &constants);

  /// Symbols of the inputs, with their ranges. Any other symbol stands for a data-dependent number.
  void readSymbols(JsonDocument &document, ExportedProgram &program);

  const ZipArchive &archive;
  std::vector<Diagnostic> &errors;
  std::string folder; ///< with a slash at the end
};

} // namespace

std::optional<ExportedProgram> ArchiveReader::read() {
  if (!findFolder() || !checkFormat())
    return std::nullopt;
  std::optional<std::string> model = findModel();
  if (!model)
    return std::nullopt;
  std::optional<PayloadTable> weights = readWeights(*model);
  std::optional<PayloadTable> constants = readTable("data/constants/", *model + "_constants_config.json");
  if (!weights || !constants)
    return std::nullopt;
  return readProgram("models/" + *model + ".json", *weights, *constants);
}

void ArchiveReader::readBufferValues(ExportedProgram &program) {
  std::optional<std::string> model = findFolder() ? findModel() : std::nullopt;
  std::optional<PayloadTable> weights = model ? readWeights(*model) : std::nullopt;
  if (!weights)
    return;
  llvm::SHA256 hash;
  // On top of the digest of the graph: two archives that differ only in their buffers give different artifacts.
  hash.update(program.digest);
  int64_t growth = 0;
  for (Buffer &buffer : program.buffers) {
    auto found = weights->find(buffer.name);
    if (!buffer.persistent || buffer.payload.empty() || found == weights->end())
      continue;
    Payload stored = inParts(found->second);
    if (!hasTypeOf(stored, program.value(buffer.value)) || archive.find(buffer.payload)->size > maxBufferBytes)
      continue;
    buffer.data = loadConstant(stored, "buffer '" + buffer.name + "'", archive, growth, errors);
    if (buffer.data)
      hash.update(buffer.data->bytes);
  }
  program.digest = llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::optional<std::string> ArchiveReader::readExtraFile(const std::string &name) {
  constexpr uint64_t most = uint64_t(64) << 20; // extra files are small
  std::string member = "extra/" + name;
  if (!findFolder() || !archive.find(folder + member))
    return std::nullopt;
  return archive.read(folder + member, errors, most);
}

void ArchiveReader::fail(const std::string &problem, std::string help) {
  errors.push_back({"'" + archive.path() + "': " + problem, {}, std::move(help)});
}

bool ArchiveReader::findFolder() {
  for (const std::string &name : archive.names()) {
    auto [top, rest] = llvm::StringRef(name).split('/');
    if (rest == "archive_format") {
      folder = top.str() + "/";
      return true;
    }
  }
  fail("not an archive of torch.export.save: it has no member 'archive_format'", exportHelp);
  return false;
}

std::optional<std::string> ArchiveReader::readMember(const std::string &name) {
  if (archive.find(folder + name))
    return archive.read(folder + name, errors);
  fail("has no member '" + folder + name + "'", exportHelp);
  return std::nullopt;
}

bool ArchiveReader::checkText(const std::string &member, llvm::StringRef what, llvm::StringRef supported) {
  std::optional<std::string> text = readMember(member);
  if (!text)
    return false;
  llvm::StringRef actual = llvm::StringRef(*text).trim();
  if (actual == supported)
    return true;
  fail((what + " is '" + actual + "', supported is '" + supported + "'").str(), exportHelp);
  return false;
}

bool ArchiveReader::checkFormat() {
  return checkText("archive_format", "archive format", supportedFormat) &&
         checkText("archive_version", "archive version", supportedVersion) &&
         (!archive.find(folder + "byteorder") || checkText("byteorder", "byte order", "little"));
}

std::optional<std::string> ArchiveReader::findModel() {
  std::vector<std::string> models;
  for (const std::string &name : archive.names()) {
    llvm::StringRef rest = name;
    if (rest.consume_front(folder + "models/") && rest.consume_back(".json"))
      models.push_back(rest.str());
  }
  if (models.size() == 1)
    return models.front();
  if (models.empty())
    fail("has no exported model ('" + folder + "models/*.json')", exportHelp);
  else
    fail("has " + std::to_string(models.size()) + " models, exactly one is supported",
         "save one program with torch.export.save");
  return std::nullopt;
}

std::optional<PayloadTable> ArchiveReader::readTable(const std::string &subfolder, const std::string &file) {
  std::optional<std::string> text = readMember(subfolder + file);
  if (!text)
    return std::nullopt;
  JsonDocument document(file, *text, errors);
  if (document.failed())
    return std::nullopt;
  PayloadTable table = readPayloadTable(document, folder + subfolder);
  return document.failed() ? std::nullopt : std::optional(std::move(table));
}

bool ArchiveReader::checkSchema(JsonDocument &document) {
  const Json &version = document.member(document.root(), "schema_version");
  int64_t major = document.integer(document.member(version, "major"));
  int64_t minor = document.integer(document.member(version, "minor"));
  if (document.failed() || major == supportedSchemaMajor)
    return !document.failed();
  fail("schema version is " + std::to_string(major) + "." + std::to_string(minor) + ", supported is " +
           std::to_string(supportedSchemaMajor) + ".x",
       "export the model with a PyTorch whose torch/_export/serde/schema.py has major version " +
           std::to_string(supportedSchemaMajor) + ", such as 2.11");
  return false;
}

/// Graphs of torch.export.export have the verifier TRAINING, graphs of decompositions the verifier ATEN.
static void readVerifiers(JsonDocument &document, ExportedProgram &program) {
  if (const Json *verifiers = document.optionalMember(document.root(), "verifiers"))
    for (const Json &verifier : document.array(*verifiers))
      program.isDecomposed |= document.string(verifier) == "ATEN";
}

/// Hashes the tensors that are compiled into the artifact; their types and shapes are part of the graph.
static void hashConstants(const ExportedProgram &program, llvm::SHA256 &hash) {
  for (const Constant &constant : program.constants)
    hash.update(constant.data.bytes);
  for (const Buffer &buffer : program.buffers)
    if (!buffer.persistent)
      hash.update(buffer.data->bytes);
}

std::optional<ExportedProgram> ArchiveReader::readProgram(const std::string &member, const PayloadTable &weights,
                                                          const PayloadTable &constants) {
  std::optional<std::string> text = readMember(member);
  if (!text)
    return std::nullopt;
  llvm::SHA256 hash;
  hash.update(*text);
  JsonDocument document(member, *text, errors);
  // The tree has all of it, and the text of a large model is large.
  text->clear();
  text->shrink_to_fit();
  if (document.failed() || !checkSchema(document))
    return std::nullopt;
  ExportedProgram program;
  if (const Json *version = document.optionalMember(document.root(), "torch_version"))
    program.torchVersion = document.string(*version);
  readVerifiers(document, program);
  const Json &module = document.member(document.root(), "graph_module");
  GraphReader graph(document, program);
  GraphNames names = graph.read(document.member(module, "graph"));
  readSignature(module, {document, graph, names, archive, weights, constants, errors}, program);
  if (document.failed() || !errors.empty())
    return std::nullopt;
  hashConstants(program, hash);
  program.digest = llvm::toHex(hash.final(), /*LowerCase=*/true);
  checkFunctional(program, archive.path(), errors);
  readSymbols(document, program);
  if (!errors.empty())
    return std::nullopt;
  stopGradients(program);
  splitComplex(program, archive.path(), errors);
  if (!errors.empty())
    return std::nullopt;
  simplifyGraph(program);
  return program;
}

/// Numbers the extents of positions where a mask is true.
static void numberDataExtents(ExportedProgram &program) {
  for (const Node &node : program.nodes) {
    bool findsPositions = llvm::is_contained(
        {"aten.where.default", "aten.nonzero.default", "aten.nonzero_numpy.default", "aten.index.Tensor"},
        llvm::StringRef(node.target));
    for (ValueId result : node.results)
      if (findsPositions && result != noValue)
        for (const SymbolicInt &dim : program.values[result].dims)
          if (dim.isSymbolic() && dim.expression->kind == SymbolicExpression::Kind::Symbol &&
              llvm::StringRef(dim.expression->name).starts_with("u"))
            program.dataExtents.try_emplace(dim.expression->name, firstDataExtent + program.dataExtents.size());
  }
}

void ArchiveReader::readSymbols(JsonDocument &document, ExportedProgram &program) {
  numberDataExtents(program);
  std::set<std::string> symbols;
  for (const Input &input : program.inputs)
    for (const SymbolicInt &dim : program.values[input.value].dims)
      collectSymbols(dim, symbols);
  for (const Value &value : program.values) {
    std::set<std::string> used;
    for (const SymbolicInt &dim : value.dims)
      collectSymbols(dim, used);
    for (const std::string &symbol : used)
      if (!symbols.count(symbol) && !program.dataExtents.count(symbol))
        return fail("the shape of '" + value.name + "' depends on data ('" + symbol + "')",
                    "use operations whose result shape follows from the shapes of the inputs");
  }
  for (const Node &node : program.nodes)
    for (const NamedArgument &argument : node.arguments) {
      std::set<std::string> used;
      collectSymbols(argument.value, used);
      for (const std::string &symbol : used)
        if (!symbols.count(symbol) && !program.dataExtents.count(symbol))
          return fail("argument '" + argument.name + "' of '" + node.name + "' depends on data ('" + symbol + "')",
                      "compute with the tensor, without 'item()'");
    }
  const Json &ranges = document.object(document.member(document.root(), "range_constraints"));
  for (const std::string &symbol : symbols) {
    SymbolRange range{symbol, 0, INT64_MAX};
    if (auto it = ranges.find(symbol); it != ranges.end()) {
      if (const Json *minimum = document.optionalMember(*it, "min_val"))
        range.minimum = document.integer(*minimum);
      if (const Json *maximum = document.optionalMember(*it, "max_val"))
        range.maximum = document.integer(*maximum);
    }
    program.symbols.push_back(range);
  }
}

ReadResult readArchive(const std::string &path) {
  ReadResult result;
  if (std::unique_ptr<ZipArchive> archive = ZipArchive::open(path, result.errors))
    result.program = ArchiveReader(*archive, result.errors).read();
  return result;
}

ExtraFile readExtraFile(const std::string &path, const std::string &name) {
  ExtraFile file;
  if (std::unique_ptr<ZipArchive> archive = ZipArchive::open(path, file.errors))
    file.text = ArchiveReader(*archive, file.errors).readExtraFile(name);
  return file;
}

void readBufferValues(const std::string &path, ExportedProgram &program) {
  std::vector<Diagnostic> ignored;
  if (std::unique_ptr<ZipArchive> archive = ZipArchive::open(path, ignored))
    ArchiveReader(*archive, ignored).readBufferValues(program);
}

} // namespace meshplan::archive
