//===- foreign.cpp - any text as another framework's plan -----------------===//
//
// The first byte selects the format of the rest: a recipe, a configuration, or flags. A text has an error exactly if it
// is rejected.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/automodel.h"
#include "compiler/adopt/huggingface.h"
#include "compiler/adopt/megatron/megatron.h"
#include "test/fuzz/require.h"
#include "test/unit/frontend/models.h"

using namespace meshplan;

static std::optional<AdoptedPlan> adopt(char kind, const SourceBuffer &source, Diagnostics &diagnostics) {
  static const ModelOutline model = test::llama(2);
  switch (kind) {
  case 'r':
    return adoptAutomodel(source, model, "tp", diagnostics);
  case 'c':
    return adoptHuggingFace(source, model, "tp", diagnostics);
  default:
    return adoptMegatron(source, diagnostics);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  Sources sources;
  Diagnostics diagnostics(sources);
  const SourceBuffer &source = sources.add("f", std::string(reinterpret_cast<const char *>(data) + 1, size - 1));
  std::optional<AdoptedPlan> plan = adopt(static_cast<char>(data[0]), source, diagnostics);
  require(plan.has_value() != diagnostics.hasErrors(), "a plan is adopted, or refused with a reason");
  // Messages quote the text and mark locations in it.
  (void)diagnostics.text();
  return 0;
}
