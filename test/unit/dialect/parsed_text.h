//===- parsed_text.h - attributes, types and modules from text --*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DIALECT_PARSED_TEXT_H
#define MESHPLAN_TEST_UNIT_DIALECT_PARSED_TEXT_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace meshplan {

/// A fixture with a context of one dialect that collects the errors in the texts it reads.
template <typename DialectT> class ParsedText : public testing::Test {
protected:
  ParsedText() : handler(&context, [this](mlir::Diagnostic &diagnostic) { messages.push_back(diagnostic.str()); }) {
    context.loadDialect<DialectT>();
  }

  /// The attribute or type that a text names; a test failure and null if there is none.
  template <typename T> T attribute(llvm::StringRef text) { return expect<T>(parseAttribute(text, &context), text); }
  template <typename T> T type(llvm::StringRef text) { return expect<T>(parseType(text, &context), text); }

  /// Each text parses to the attribute or type beside it, and prints back.
  template <typename T> void expectTexts(llvm::ArrayRef<std::pair<const char *, T>> cases) {
    for (auto [text, meant] : cases) {
      EXPECT_EQ(parsed<T>(text), meant) << text << ": " << takeMessages();
      EXPECT_EQ(print(meant), text);
    }
  }
  /// Each text is rejected with the message beside it: one line per message.
  template <typename T> void expectFaults(llvm::ArrayRef<std::pair<const char *, const char *>> cases) {
    for (auto [text, fault] : cases) {
      EXPECT_FALSE(parsed<T>(text)) << text;
      EXPECT_EQ(takeMessages(), fault) << text;
    }
  }

  mlir::OwningOpRef<mlir::ModuleOp> module(llvm::StringRef text) {
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(parsed) << takeMessages();
    return parsed;
  }

  template <typename T> static std::string print(T what) {
    std::string text;
    llvm::raw_string_ostream(text) << what;
    return text;
  }

  mlir::MLIRContext context;

private:
  std::string takeMessages() {
    std::string all;
    for (const std::string &message : messages)
      all += (all.empty() ? "" : "\n") + message;
    messages.clear();
    return all;
  }

  template <typename T> T parsed(llvm::StringRef text) {
    if constexpr (std::is_same_v<T, mlir::Attribute>)
      return parseAttribute(text, &context);
    else
      return parseType(text, &context);
  }

  template <typename T, typename Base> T expect(Base parsed, llvm::StringRef text) {
    T found = mlir::dyn_cast_or_null<T>(parsed);
    EXPECT_TRUE(found) << text.str() << ": " << takeMessages();
    return found;
  }

  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DIALECT_PARSED_TEXT_H
