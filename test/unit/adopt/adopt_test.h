//===- adopt_test.h - files of other frameworks -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_ADOPT_ADOPT_TEST_H
#define MESHPLAN_TEST_UNIT_ADOPT_ADOPT_TEST_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/frontend/model_outline.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshplan::test {

class AdoptTest : public testing::Test {
protected:
  const SourceBuffer &source(const std::string &text, const std::string &name = "f") {
    diagnostics = Diagnostics(sources);
    return sources.add(name, text);
  }
  /// "2:3: error: message", followed by its helps.
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    for (const Diagnostic &report : diagnostics.all()) {
      const char *kind = report.severity == Severity::Error ? "error: " : "warning: ";
      std::string place = report.range.hasLine()
                              ? std::to_string(report.range.line) + ":" + std::to_string(report.range.column) + ": "
                              : "";
      texts.push_back(place + kind + report.message);
      for (const std::string &help : report.helps)
        texts.push_back("help: " + help);
    }
    return texts;
  }
  static std::vector<std::string> texts(const std::vector<AdoptedText> &options) {
    std::vector<std::string> all;
    for (const AdoptedText &option : options)
      all.push_back(option.text);
    return all;
  }

  Sources sources;
  Diagnostics diagnostics{sources};
};

/// Two layers in "model", with attention, sinks, a router and fused experts, and a head beside them.
inline ModelOutline mixture() {
  ModelOutline model;
  auto add = [&](const std::string &module, const std::string &leaf, std::vector<int64_t> shape) {
    size_t index = 0;
    while (index < model.modules.size() && model.modules[index].path != module)
      ++index;
    if (index == model.modules.size())
      model.modules.push_back({module, ""});
    model.parameters.push_back({{{index, leaf}}, {}, std::move(shape)});
  };
  model.modules.push_back({"", ""});
  add("model.embed_tokens", "weight", {96, 32});
  for (std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(layer + "self_attn", "sinks", {4});
    add(layer + "self_attn.q_proj", "weight", {32, 32});
    add(layer + "self_attn.o_proj", "weight", {32, 32});
    add(layer + "mlp.router", "weight", {4, 32});
    add(layer + "mlp.experts", "gate_up_proj", {4, 96, 32});
    add(layer + "mlp.experts", "down_proj", {4, 32, 48});
    add(layer + "input_layernorm", "weight", {32});
  }
  add("lm_head", "weight", {96, 32});
  return model;
}

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_ADOPT_ADOPT_TEST_H
