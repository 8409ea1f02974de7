//===- distribution.cpp - distributions of initial parameters --------------===//
//
// Example: `truncated normal 0.02 from -0.04 to 0.04`. A distribution is read word by word; where one is not of the
// form of the first word, the whole form is the help.
//
//===----------------------------------------------------------------------===//

#include "runtime/schema/distribution.h"
#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"
#include "compiler/support/number_text.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

struct DistributionForm {
  llvm::StringRef word; ///< the first word
  llvm::StringRef form;
};

constexpr DistributionForm distributionForms[] = {
    {"zeros", "zeros"},
    {"ones", "ones"},
    {"constant", "constant X"},
    {"normal", "normal STD [mean M]"},
    {"uniform", "uniform LOW HIGH | uniform BOUND"},
    {"truncated", "truncated normal STD from LOW to HIGH [mean M]"},
    {"kaiming", "kaiming uniform | normal [fan in | out] [slope A]"},
    {"xavier", "xavier uniform | normal [gain G]"},
};

/// Reads words and numbers in order. The first operand that is not of the expected form makes the whole distribution
/// wrong.
class DistributionReader {
public:
  DistributionReader(const Context &context, llvm::ArrayRef<Operand> operands) : context(context), left(operands) {}

  /// False if the operands do not match the form of their first word, which must be known.
  bool run(InitialValues &values);

private:
  bool takeWord(llvm::StringRef word);
  void require(bool is) { isRight &= is; }
  double number();
  double optionalNumber(llvm::StringRef word, double otherwise) { return takeWord(word) ? number() : otherwise; }
  bool isUniform();

  void readUniform(InitialValues &values);
  void readTruncated(InitialValues &values);
  void readKaiming(InitialValues &values);
  void readXavier(InitialValues &values);

  const Context &context;
  llvm::ArrayRef<Operand> left;
  bool isRight = true;
};

} // namespace

bool DistributionReader::takeWord(llvm::StringRef word) {
  if (left.empty() || left.front().kind != Operand::Kind::Word || left.front().text != word)
    return false;
  left = left.drop_front();
  return true;
}

/// A number without a unit, or a name that has a value.
double DistributionReader::number() {
  if (left.empty())
    return isRight = false;
  const Operand &operand = left.front();
  left = left.drop_front();
  if (operand.kind == Operand::Kind::Number && operand.number.unit.empty())
    return operand.number.value;
  auto named = context.environment.values.find(operand.text);
  if (operand.kind == Operand::Kind::Word && named != context.environment.values.end())
    return static_cast<double>(named->second);
  return isRight = false;
}

bool DistributionReader::isUniform() {
  bool is = takeWord("uniform");
  require(is || takeWord("normal"));
  return is;
}

void DistributionReader::readUniform(InitialValues &values) {
  values.distribution = Distribution::Uniform;
  double first = number();
  bool isBound = left.empty();
  values.low = isBound ? -first : first;
  values.high = isBound ? first : number();
}

void DistributionReader::readTruncated(InitialValues &values) {
  values.distribution = Distribution::TruncatedNormal;
  require(takeWord("normal"));
  values.std = number();
  require(takeWord("from"));
  values.low = number();
  require(takeWord("to"));
  values.high = number();
  values.mean = optionalNumber("mean", 0);
}

/// `slope` is the negative slope of a leaky ReLU, as in torch.nn.init; 0 for a ReLU.
void DistributionReader::readKaiming(InitialValues &values) {
  values.distribution = isUniform() ? Distribution::KaimingUniform : Distribution::KaimingNormal;
  if (takeWord("fan")) {
    values.isFanOut = takeWord("out");
    require(values.isFanOut || takeWord("in"));
  }
  double slope = optionalNumber("slope", 0);
  // A leaky ReLU of slope a keeps (1 + a^2) / 2 of the mean square of its input; the gain makes up for the rest.
  values.gain = std::sqrt(2 / (1 + slope * slope));
}

void DistributionReader::readXavier(InitialValues &values) {
  values.distribution = isUniform() ? Distribution::XavierUniform : Distribution::XavierNormal;
  values.gain = optionalNumber("gain", 1);
}

bool DistributionReader::run(InitialValues &values) {
  if (takeWord("ones")) {
    values.value = 1;
  } else if (takeWord("constant")) {
    values.value = number();
  } else if (takeWord("normal")) {
    values.distribution = Distribution::Normal;
    values.std = number();
    values.mean = optionalNumber("mean", 0);
  } else if (takeWord("uniform")) {
    readUniform(values);
  } else if (takeWord("truncated")) {
    readTruncated(values);
  } else if (takeWord("kaiming")) {
    readKaiming(values);
  } else if (takeWord("xavier")) {
    readXavier(values);
  } else {
    takeWord("zeros");
  }
  return isRight && left.empty();
}

/// The error in the numbers of a distribution; empty if there is none.
static std::string faultOf(const InitialValues &values) {
  Distribution kind = values.distribution;
  bool isNormal = kind == Distribution::Normal || kind == Distribution::TruncatedNormal;
  bool isBounded = kind == Distribution::Uniform || kind == Distribution::TruncatedNormal;
  switch (distributionFault({values.value, values.low, values.high, values.mean, values.std, isBounded, isNormal})) {
  case DistributionFault::number:
    return "a number has to fit into f32";
  case DistributionFault::deviation:
    return "the standard deviation has to be above 0, and is " + numberText(values.std);
  case DistributionFault::bounds:
    return "the upper bound has to be above the lower one, " + numberText(values.low) + ", is " +
           numberText(values.high);
  case DistributionFault::unreachable:
    return "the bounds exclude everything within " + std::to_string(mostDeviations) +
           " standard deviations of the mean";
  case DistributionFault::none:
    break;
  }
  if (!isDrawable(values.gain))
    return "a number has to fit into f32";
  bool hasGain = kind != Distribution::Constant && !isNormal && !isBounded;
  if (hasGain && !(values.gain > 0))
    return "the gain has to be above 0, and is " + numberText(values.gain);
  return "";
}

std::optional<InitialValues> bind::bindDistribution(const Context &context, const InitEntry &entry) {
  std::vector<std::string> words;
  for (const DistributionForm &form : distributionForms)
    words.push_back(form.word.str());
  bool hasWord = !entry.distribution.empty() && entry.distribution.front().kind == Operand::Kind::Word;
  const DistributionForm *form =
      hasWord
          ? llvm::find_if(distributionForms,
                          [&](const DistributionForm &each) { return each.word == entry.distribution.front().text; })
          : std::end(distributionForms);
  if (hasWord && form == std::end(distributionForms)) {
    const Operand &word = entry.distribution.front();
    context.diagnostics.error(word.range, "unknown distribution '" + word.text + "'")
        .help(suggest(word.text, words, "distributions"));
    return std::nullopt;
  }
  InitialValues values;
  if (!hasWord || !DistributionReader(context, entry.distribution).run(values)) {
    std::string path = entry.path ? "PATH " : "rest ";
    context.diagnostics.error(entry.range, "cannot read '" + entry.text + "'")
        .help("the form is '" + path + (hasWord ? form->form.str() : "DISTRIBUTION") + "'" +
              (hasWord ? "" : "; distributions: " + quotedList(words, ",")));
    return std::nullopt;
  }
  if (std::string fault = faultOf(values); !fault.empty()) {
    context.diagnostics.error(entry.range, fault);
    return std::nullopt;
  }
  return values;
}
