//===- command_line_test.cpp - one form of wrong usage --------------------===//

#include "tools/command_line/command_line.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

struct Outcome {
  std::optional<int> status;
  std::string errors, output;
};

CLI::Validator number() { return positiveNumber(1000); }
CLI::Validator integer() { return positiveInteger(2000); }

/// "kiln", a program with the commands fire and cool.
class CommandLine : public testing::Test {
protected:
  CommandLine() {
    app.set_version_flag("--version", "kiln 1.2.3");
    app.require_subcommand(1);
    CLI::App *fire = app.add_subcommand("fire", "heats up");
    fire->add_option("pot", pot, "what is fired")->required();
    fire->add_option("--heat", heat, "degrees")->check(integer());
    fire->add_option("--glaze", glaze, "finish")->check(oneOf({"none", "salt", "ash"}));
    fire->add_option("--hours", hours)->check(number())->required();
    fire->add_flag("--json", json);
    app.add_subcommand("cool", "cools down");
  }

  Outcome parse(std::vector<const char *> words) {
    words.insert(words.begin(), "/usr/bin/kiln");
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    Outcome outcome;
    outcome.status = parseCommandLine(app, static_cast<int>(words.size()), words.data(), nearest);
    outcome.output = testing::internal::GetCapturedStdout();
    outcome.errors = testing::internal::GetCapturedStderr();
    return outcome;
  }

  /// The expected text after "error: " and "help: " for wrong usage of `where`.
  void expectWrong(std::vector<const char *> words, const std::string &where, const std::string &message,
                   const std::string &help) {
    Outcome outcome = parse(std::move(words));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.errors, where + ": error: " + message + "\nhelp: " + help + "\n");
    EXPECT_EQ(outcome.output, "");
  }

  /// Wrong usage of "fire" for which only its help text helps.
  void expectWrongFire(std::vector<const char *> words, const std::string &message) {
    words.insert(words.begin(), "fire");
    expectWrong(std::move(words), "kiln fire", message, "see 'kiln fire --help'");
  }

  /// Candidates with the same first two letters or, for options, the same first letter.
  static std::vector<std::string> nearest(const std::string &name, const std::vector<std::string> &candidates) {
    std::vector<std::string> found;
    size_t length = name.starts_with("--") ? 3 : 2;
    for (const std::string &candidate : candidates)
      if (candidate.substr(0, length) == name.substr(0, length))
        found.push_back(candidate);
    return found;
  }

  CLI::App app{"a program", "kiln"};
  std::string pot, glaze;
  int heat = 0;
  double hours = 0;
  bool json = false;
};

TEST_F(CommandLine, ACommandIsToRun) {
  Outcome outcome = parse({"fire", "--heat", "900", "vase", "--hours=1.5", "--json", "--glaze", "ash"});
  EXPECT_EQ(outcome.status, std::nullopt) << outcome.errors;
  EXPECT_TRUE(app.get_subcommand("fire")->parsed());
  EXPECT_FALSE(app.get_subcommand("cool")->parsed());
  EXPECT_EQ(pot, "vase");
  EXPECT_EQ(heat, 900);
  EXPECT_EQ(hours, 1.5);
  EXPECT_EQ(glaze, "ash");
  EXPECT_TRUE(json);
  EXPECT_EQ(outcome.errors + outcome.output, "");
}

TEST_F(CommandLine, HelpAndVersionAreNoMistakes) {
  Outcome version = parse({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.output, "kiln 1.2.3\n");
  for (std::vector<const char *> words : {std::vector<const char *>{"--help"}, {"fire", "--help"}, {"fire", "-h"}}) {
    Outcome help = parse(words);
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.output, testing::HasSubstr("Usage: "));
    EXPECT_EQ(help.errors, "");
  }
}

TEST_F(CommandLine, Commands) {
  const std::string known = "commands: fire, cool";
  expectWrong({}, "kiln", "a command is required", known);
  expectWrong({"firre"}, "kiln", "unknown command 'firre'", "did you mean 'fire'?");
  expectWrong({"glaze", "vase"}, "kiln", "unknown command 'glaze'", known);
  expectWrong({""}, "kiln", "unknown command ''", known);
  expectWrong({"Fire"}, "kiln", "unknown command 'Fire'", known);
  expectWrong({"--hot"}, "kiln", "unknown option '--hot'", "did you mean '--help'?");
  expectWrong({"--frost", "cool"}, "kiln", "unknown option '--frost'", "see 'kiln --help'");
}

TEST_F(CommandLine, OptionsThatAreUnknown) {
  expectWrong({"fire", "vase", "--hours", "1", "--haet", "3"}, "kiln fire", "unknown option '--haet'",
              "did you mean '--help'?");
  expectWrong({"fire", "vase", "--hours", "1", "--jsn"}, "kiln fire", "unknown option '--jsn'",
              "did you mean '--json'?");
  expectWrong({"fire", "vase", "--glace=ash", "--hours=1"}, "kiln fire", "unknown option '--glace'",
              "did you mean '--glaze'?");
  expectWrongFire({"vase", "--hours=1", "-x"}, "unknown option '-x'");
  // If a required option is missing, it was probably mistyped.
  expectWrong({"fire", "vase", "--hurs", "1"}, "kiln fire", "unknown option '--hurs'", "did you mean '--help'?");
  expectWrong({"cool", "--json"}, "kiln cool", "unknown option '--json'", "see 'kiln cool --help'");
}

TEST_F(CommandLine, ArgumentsThatAreTooManyOrMissing) {
  expectWrongFire({"vase", "jug", "--hours=1"}, "unexpected argument 'jug'");
  expectWrongFire({"vase", "--hours=1", "-"}, "unexpected argument '-'");
  expectWrong({"cool", "jug"}, "kiln cool", "unexpected argument 'jug'", "see 'kiln cool --help'");
  expectWrongFire({"--hours=1"}, "pot is required");
  expectWrongFire({"vase"}, "--hours is required");
  expectWrongFire({"vase", "--hours"}, "--hours: 1 required FLOAT:NUMBER missing");
}

TEST_F(CommandLine, ValuesThatAreWrong) {
  expectWrongFire({"vase", "--hours=1", "--heat", "hot"}, "--heat: 'hot' is not a positive whole number");
  expectWrongFire({"vase", "--hours=soon"}, "--hours: 'soon' is not a positive number");
  expectWrongFire({"vase", "--hours=1", "--glaze", "sand"}, "--glaze: 'sand' is none of none, salt, ash");
  EXPECT_EQ(parse({"fire", "vase", "--hours=1", "--hours=2"}).status, 2) << "an option given twice";
}

/// The message of a validator about a value; empty if it is valid.
std::string judged(const CLI::Validator &validator, std::string value) { return validator(value); }

TEST(Validators, PositiveNumber) {
  for (const char *right : {"1", "0.001", "1e3", "1000.0", "4.5e-3", "5e-324"})
    EXPECT_EQ(judged(number(), right), "") << right;
  for (const char *wrong :
       {"", "0", "-1", "-0.5", "0.0", "inf", "nan", "infinity", "1e999", "1s", "1 ", " 1", "+1", "1,5", "0x10", "one"})
    EXPECT_EQ(judged(number(), wrong), std::string("'") + wrong + "' is not a positive number");
  for (const char *large : {"1000.1", "1001", "1e308"})
    EXPECT_EQ(judged(number(), large), std::string("'") + large + "' is more than 1000");
}

TEST(Validators, PositiveInteger) {
  for (const char *right : {"1", "007", "1999", "2000"})
    EXPECT_EQ(judged(integer(), right), "") << right;
  for (const char *wrong : {"", "0", "-1", "1.0", "1e3", "9223372036854775808", "ten", "1 ", "+1", "0x1"})
    EXPECT_EQ(judged(integer(), wrong), std::string("'") + wrong + "' is not a positive whole number");
  for (const char *large : {"2001", "9223372036854775807"})
    EXPECT_EQ(judged(integer(), large), std::string("'") + large + "' is more than 2000");
}

TEST(Validators, OneOf) {
  CLI::Validator validator = oneOf({"cpu", "cuda"});
  EXPECT_EQ(judged(validator, "cpu"), "");
  EXPECT_EQ(judged(validator, "cuda"), "");
  for (const char *wrong : {"", "CPU", "cpu ", "cp", "cpu, cuda"})
    EXPECT_EQ(judged(validator, wrong), std::string("'") + wrong + "' is none of cpu, cuda");
  EXPECT_EQ(judged(oneOf({"cpu"}), "gpu"), "'gpu' is none of cpu");
}

} // namespace
} // namespace meshplan
