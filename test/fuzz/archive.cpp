//===- archive.cpp - any bytes as a torch.export archive ------------------===//
//
// Reads with compiler/archive, and gives symbolic dims an extent. Beyond the sanitizers' checks: an archive has an
// error exactly if it is rejected, and every value of the program exists.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/bind_symbols.h"
#include "compiler/archive/read_archive.h"
#include "test/fuzz/in_memory_file.h"
#include "test/fuzz/require.h"
#include "test/fuzz/zip_mutator.h"

using namespace meshplan;
using namespace meshplan::archive;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  return fuzz::mutateZip(data, size, maxSize, seed);
}

static void checkValues(const ExportedProgram &program) {
  auto exists = [&](ValueId id) {
    require(id >= 0 && size_t(id) < program.values.size(), "a value that is named is in the table of values");
  };
  for (const Node &node : program.nodes) {
    for (ValueId id : program.operands(node))
      exists(id);
    for (ValueId id : node.results)
      if (id != noValue)
        exists(id);
    (void)program.modulePath(node);
    (void)program.moduleChain(node);
  }
  auto eachExists = [&](const auto &list) {
    for (const auto &each : list)
      exists(each.value);
  };
  eachExists(program.parameters);
  eachExists(program.buffers);
  eachExists(program.constants);
  eachExists(program.inputs);
  eachExists(program.outputs);
  eachExists(program.bufferUpdates);
}

static void bind(ExportedProgram program, int64_t extent) {
  SymbolBindings bindings;
  for (const SymbolRange &symbol : program.symbols)
    bindings[symbol.symbol] = extent;
  (void)bindSymbols(program, bindings);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  InMemoryFile file(data, size);
  ReadResult result = readArchive(file.path());
  require(result.program.has_value() == result.errors.empty(), "an archive is read, or refused with a reason");
  if (!result.program)
    return 0;
  readBufferValues(file.path(), *result.program);
  checkValues(*result.program);
  for (int64_t extent : {int64_t(1), int64_t(6), int64_t(1) << 62})
    bind(*result.program, extent);
  return 0;
}
