//===- lines_test.cpp - lines of a formatted plan -------------------------===//

#include "compiler/frontend/format/lines.h"

#include <gtest/gtest.h>

using namespace meshplan::format;

namespace {

Line plain(const std::string &text, size_t depth = 0) { return {depth, false, "", {{text}}, ""}; }
Line entry(const std::string &key, const std::string &value, size_t depth = 0) {
  return {depth, false, key, {{value}}, ""};
}
Line commented(Line line, const std::string &comment) {
  line.comment = comment;
  return line;
}
Line apart(Line line) {
  line.blankBefore = true;
  return line;
}

TEST(Lines, NoLinesAreNoText) { EXPECT_EQ(render({}), ""); }

TEST(Lines, WidthCountsCodePoints) {
  EXPECT_EQ(widthOf(""), 0u);
  EXPECT_EQ(widthOf("abc"), 3u);
  EXPECT_EQ(widthOf("\u00e9"), 1u);           // two bytes
  EXPECT_EQ(widthOf("a\u20acb"), 3u);         // three
  EXPECT_EQ(widthOf("\U0001f600\u00e9"), 2u); // four and two
}

TEST(Lines, DepthIsTwoColumns) {
  EXPECT_EQ(render({plain("a {"), plain("b {", 1), plain("c", 2), plain("}", 1), plain("}")}),
            "a {\n  b {\n    c\n  }\n}\n");
}

TEST(Lines, ABlankLineStandsBefore) {
  EXPECT_EQ(render({plain("a"), apart(plain("b", 1)), plain("c")}), "a\n\n  b\nc\n");
}

TEST(Lines, ValuesOfOneRunAreAligned) {
  EXPECT_EQ(render({entry("a:", "x"), entry("long.er:", "y"), entry("bc:", "z")}),
            "a:       x\nlong.er: y\nbc:      z\n");
  EXPECT_EQ(render({entry("\u00e9\u00e9\u00e9:", "x"), entry("a:", "y")}), "\u00e9\u00e9\u00e9: x\na:   y\n")
      << "in columns, not in bytes";
}

TEST(Lines, ARunEndsAtABlankLineADepthAndAnotherStatement) {
  EXPECT_EQ(render({entry("a:", "x"), apart(entry("long.er:", "y")), entry("b:", "z")}),
            "a: x\n\nlong.er: y\nb:       z\n");
  EXPECT_EQ(render({entry("a:", "x"), entry("long.er:", "y", 1), entry("b:", "z")}), "a: x\n  long.er: y\nb: z\n");
  EXPECT_EQ(render({entry("a:", "x"), plain("let n = 1"), entry("long.er:", "y")}), "a: x\nlet n = 1\nlong.er: y\n");
}

TEST(Lines, AKeyWithoutAValueHasNoSpaceBehind) {
  EXPECT_EQ(render({{0, false, "a:", {}, ""}, entry("long:", "x")}), "a:\nlong: x\n");
}

TEST(Lines, ALineOfTheFullWidthIsNotBroken) {
  std::string first(59, 'a');
  Line fits = {0, false, "", {{first + ","}, {std::string(59, 'b')}}, ""}; // 60 + 1 + 59
  EXPECT_EQ(render({fits}), first + ", " + std::string(59, 'b') + "\n");
  Line wide = {0, false, "", {{first + ","}, {std::string(60, 'b')}}, ""};
  EXPECT_EQ(render({wide}), first + ",\n    " + std::string(60, 'b') + "\n");
}

TEST(Lines, DepthAndKeyCountInTheWidth) {
  std::string half(50, 'a');
  Line line = {3, false, "keyword.1:", {{half + ","}, {std::string(51, 'b')}}, ""}; // 6 + 10 + 1 + 51 + 1 + 51
  EXPECT_EQ(render({line}), "      keyword.1: " + half + ", " + std::string(51, 'b') + "\n");
  line.parts[1].text += "b";
  EXPECT_EQ(render({line}), "      keyword.1: " + half + ",\n          " + std::string(52, 'b') + "\n")
      << "it continues four columns farther in";
}

TEST(Lines, AContinuationIsAsWide) {
  std::string a(100, 'a'), b(57, 'b');
  Line line = {0, false, "", {{a}, {b}, {std::string(58, 'c')}, {"d"}}, ""}; // 4 + 57 + 1 + 58 in the second
  EXPECT_EQ(render({line}), a + "\n    " + b + " " + std::string(58, 'c') + "\n    d\n");
}

TEST(Lines, OnePartIsNeverBroken) {
  std::string path(200, 'a');
  EXPECT_EQ(render({plain(path)}), path + "\n");
  EXPECT_EQ(render({entry("key:", path)}), "key: " + path + "\n");
}

TEST(Lines, ALineCommentBreaksTheLine) {
  Line line = {1, false, "", {{"input a, // of a", true}, {"b:"}, {"[c]"}}, ""};
  EXPECT_EQ(render({line}), "  input a, // of a\n      b: [c]\n");
  line.parts[2].mustBreak = true; // after the last part there is nothing to break
  EXPECT_EQ(render({line}), "  input a, // of a\n      b: [c]\n");
}

TEST(Lines, CommentsOfOneRunAreAligned) {
  EXPECT_EQ(render({commented(plain("let a = 1"), "// one"), commented(plain("let bcd = 2"), "// two")}),
            "let a = 1    // one\nlet bcd = 2  // two\n");
  EXPECT_EQ(render({commented(plain("a"), "// one"), plain("let bcd = 2"), commented(plain("c"), "// three")}),
            "a  // one\nlet bcd = 2\nc  // three\n");
  EXPECT_EQ(render({commented(plain("a"), "// one"), apart(commented(plain("let b = 2"), "// two"))}),
            "a  // one\n\nlet b = 2  // two\n");
  EXPECT_EQ(render({commented(plain("a"), "// one"), commented(plain("let b = 2", 1), "// two")}),
            "a  // one\n  let b = 2  // two\n");
}

TEST(Lines, ACommentStandsBehindTheLastLineOfItsStatement) {
  std::string a(100, 'a'), b(30, 'b');
  Line broken = commented({0, false, "", {{a}, {b}}, ""}, "// c");
  EXPECT_EQ(render({broken, commented(plain("\u00e9"), "// d")}),
            a + "\n    " + b + "  // c\n\u00e9" + std::string(35, ' ') + "// d\n");
}

TEST(Lines, CommentsStandBehindAlignedValues) {
  EXPECT_EQ(render({commented(entry("a:", "x"), "// 1"), commented(entry("long:", "y"), "// 2")}),
            "a:    x  // 1\nlong: y  // 2\n");
}

} // namespace
