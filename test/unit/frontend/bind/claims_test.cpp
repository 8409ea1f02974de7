//===- claims_test.cpp - which entry owns which claim ---------------------===//

#include "compiler/frontend/bind/claims.h"
#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

/// Entries on a model of the modules a, b, c, d, each of which claims the style of its modules.
class Claims : public test::BindContext {
protected:
  Claims() {
    for (const char *path : {"a", "b", "c", "d"})
      model.modules.push_back({path, "Linear"});
    readPlan("");
  }

  void add(const std::string &modules, bool isOverride = false) {
    EntryMatch entry;
    entry.path = modules;
    entry.isOverride = isOverride;
    for (char module : modules)
      entry.modules.push_back(static_cast<size_t>(module - 'a'));
    for (size_t module : entry.modules)
      claims[{Claim::Style, module, 0}].push_back(entries.size());
    entries.push_back(std::move(entry));
  }
  void addOverride(const std::string &modules) { add(modules, true); }

  /// The owner of each module's style.
  std::map<std::string, size_t> settle() {
    std::map<std::string, size_t> owners;
    for (const auto &[claim, owner] : settleClaims(*context, claims, entries))
      owners[model.modules[claim.module].path] = owner;
    for (const Diagnostic &diagnostic : diagnostics.all())
      messages.push_back(diagnostic.message);
    return owners;
  }

  ClaimMap claims;
  std::vector<EntryMatch> entries;
  std::vector<std::string> messages;
};

const std::string notASubset = "an override must match a strict subset of what it overrides; ";

TEST_F(Claims, WithoutClaimsNothingIsOwned) {
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(Claims, OneEntryOwnsWhatItClaims) {
  add("ab");
  add("d");
  EXPECT_THAT(settle(), ElementsAre(Pair("a", 0), Pair("b", 0), Pair("d", 1)));
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(Claims, AnOverrideTakesItsPartWhereverItStands) {
  addOverride("b");
  add("abc");
  addOverride("c");
  EXPECT_THAT(settle(), ElementsAre(Pair("a", 1), Pair("b", 0), Pair("c", 2)));
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(Claims, OverridesNest) {
  addOverride("bc");
  addOverride("c");
  add("abcd");
  EXPECT_THAT(settle(), ElementsAre(Pair("a", 2), Pair("b", 0), Pair("c", 1), Pair("d", 2)));
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(Claims, TwoEntriesWithoutOverrideContradict) {
  add("abc");
  add("bcd");
  add("a");
  settle();
  EXPECT_THAT(messages, ElementsAre("two entries match 'b' and 1 more", "two entries match 'a'"));
}

TEST_F(Claims, OnlyTheEntryThatMatchesMostGoesWithoutOverride) {
  add("abcd");
  addOverride("a");
  add("ab");
  settle();
  EXPECT_THAT(messages, ElementsAre("two entries match 'a' and 1 more"));
}

TEST_F(Claims, AnOverrideIsAStrictSubset) {
  struct {
    const char *entry, *override, *message;
  } cases[] = {
      {"ab", "bc", "'bc' matches 2 modules, 'ab' matches 2 modules, and 1 is in both"},
      {"ab", "ab", "'ab' matches 2 modules, 'ab' matches 2 modules, and 2 are in both"},
      {"a", "ab", "'ab' matches 2 modules, 'a' matches 1 module, and 1 is in both"},
      {"abc", "cd", "'cd' matches 2 modules, 'abc' matches 3 modules, and 1 is in both"},
  };
  for (auto [entry, override, message] : cases) {
    claims.clear();
    entries.clear();
    messages.clear();
    diagnostics = Diagnostics(sources);
    add(entry);
    addOverride(override);
    settle();
    EXPECT_THAT(messages, ElementsAre(notASubset + message)) << entry << " " << override;
  }
}

TEST_F(Claims, TwoOverridesOfOneEntryContradictEachOther) {
  add("abcd");
  addOverride("ab");
  addOverride("bc");
  settle();
  EXPECT_THAT(messages, ElementsAre(notASubset + "'ab' matches 2 modules, 'bc' matches 2 modules, and 1 is in both"));
}

TEST_F(Claims, AnOverrideOfNothingIsIdle) {
  add("ab");
  addOverride("c");
  EXPECT_THAT(settle(), ElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 1)));
  EXPECT_THAT(messages, ElementsAre("'c' overrides nothing"));
}

TEST_F(Claims, AnOverrideThatMatchesNothingWasReportedBefore) {
  add("ab");
  addOverride("");
  settle();
  EXPECT_THAT(messages, IsEmpty());
}

TEST_F(Claims, OtherThingsOfAModuleAreOtherClaims) {
  add("a");
  // A border of each side and number, and a parameter, each have their own owner.
  size_t border = entries.size();
  entries.push_back({});
  entries.back().modules = {0};
  const Claim other[] = {{Claim::Input, 0, 0}, {Claim::Output, 0, 0}, {Claim::Output, 0, 1}, {Claim::Parameter, 0, 0}};
  for (const Claim &claim : other)
    claims[claim] = {border};
  std::map<Claim, size_t> owners = settleClaims(*context, claims, entries);
  EXPECT_EQ(owners.size(), 5u);
  EXPECT_EQ(owners.at({Claim::Style, 0, 0}), 0u);
  for (const Claim &claim : other)
    EXPECT_EQ(owners.at(claim), border);
  EXPECT_EQ(diagnostics.text(), "");
}

} // namespace
