//===- command_line.cpp - code that command lines share -------------------===//
//
// CLI11 finds the error, and its text is kept where it says what to do. It lists words of its own for a mistyped option
// or command; these are replaced by the nearest name.
//
//===----------------------------------------------------------------------===//

#include "tools/command_line/command_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iostream>
#include <sstream>

using namespace meshplan;

namespace {

std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flagNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    if (option->nonpositional())
      names.push_back(option->get_name());
  return names;
}

std::string didYouMean(const Nearest &nearest, const std::string &name, const std::vector<std::string> &candidates,
                       const std::string &otherwise) {
  std::vector<std::string> near = nearest(name, candidates);
  return near.empty() ? otherwise : "did you mean '" + near.front() + "'?";
}

int report(const std::string &where, std::string message, const std::string &help) {
  if (!message.empty())
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  std::cerr << where << ": error: " << message << "\nhelp: " << help << std::endl;
  return 2;
}

/// CLI11's own text suits most errors. To CLI11 a mistyped option is one argument too many, and a required one is often
/// missing as a consequence, so mistyped options are looked for first.
int reportUsage(const CLI::App &root, const CLI::App &command, const std::string &where, const CLI::ParseError &error,
                const Nearest &nearest) {
  auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  std::string help = "see '" + where + " --help'";
  std::vector<std::string> extra = root.remaining(/*recurse=*/true);
  if (extra.empty() || !(is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError)))
    return report(where, error.what(), help);
  std::string name = extra.front().substr(0, extra.front().find('='));
  if (name.size() < 2 || name[0] != '-')
    return report(where, "unexpected argument '" + extra.front() + "'", help);
  return report(where, "unknown option '" + name + "'", didYouMean(nearest, name, flagNames(command), help));
}

template <typename Number> bool parsesAs(const std::string &text, Number &value) {
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

std::string moreThan(const std::string &text, int64_t most) {
  return "'" + text + "' is more than " + std::to_string(most);
}

} // namespace

std::optional<int> meshplan::parseCommandLine(CLI::App &app, int argc, const char *const *argv,
                                              const Nearest &nearest) {
  std::string program = app.get_name();
  std::vector<std::string> commands = commandNames(app);
  std::string known = "commands: " + join(commands);
  if (argc < 2)
    return report(program, "a command is required", known);
  std::string first = argv[1];
  bool isCommand = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (first[0] != '-' && !isCommand)
    return report(program, "unknown command '" + first + "'", didYouMean(nearest, first, commands, known));
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      // CLI11 would flush the stream, and the reason of a failure would be lost.
      std::ostringstream out, err;
      int status = app.exit(error, out, err);
      std::cout << out.str();
      return status;
    }
    return isCommand ? reportUsage(app, *app.get_subcommand(first), program + " " + first, error, nearest)
                     : reportUsage(app, app, program, error, nearest);
  }
}

CLI::Validator meshplan::oneOf(std::vector<std::string> values) {
  auto check = [values](std::string &text) {
    bool found = std::find(values.begin(), values.end(), text) != values.end();
    return found ? std::string() : "'" + text + "' is none of " + join(values);
  };
  return CLI::Validator(check, "{" + join(values) + "}");
}

CLI::Validator meshplan::positiveNumber(int64_t most) {
  auto check = [most](std::string &text) {
    double value = 0;
    if (!parsesAs(text, value) || !std::isfinite(value) || value <= 0)
      return "'" + text + "' is not a positive number";
    return value > static_cast<double>(most) ? moreThan(text, most) : std::string();
  };
  return CLI::Validator(check, "NUMBER");
}

CLI::Validator meshplan::fileName() {
  auto check = [](std::string &text) { return std::string(text.empty() ? "'' is not a file name" : ""); };
  return CLI::Validator(check, "FILE");
}

static CLI::Validator integerFrom(int64_t least, int64_t most, const std::string &kind) {
  auto check = [=](std::string &text) {
    int64_t value = 0;
    // A number that does not fit in 64 bits is reported as not being a number.
    if (!parsesAs(text, value) || value < least)
      return "'" + text + "' is not a " + kind;
    return value > most ? moreThan(text, most) : std::string();
  };
  return CLI::Validator(check, "NUMBER");
}

CLI::Validator meshplan::positiveInteger(int64_t most) { return integerFrom(1, most, "positive whole number"); }

CLI::Validator meshplan::wholeNumber(int64_t most) { return integerFrom(0, most, "whole number of at least 0"); }
