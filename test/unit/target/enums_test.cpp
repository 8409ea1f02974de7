//===- enums_test.cpp - enums of the artifact are those of the dialects ---===//

#include "compiler/target/artifact/enums.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// Every case of a dialect's enum becomes the one of the same name.
template <typename Enum, typename NameOf, typename ArtifactName>
void expectSameNames(unsigned largest, NameOf nameOf, ArtifactName artifactNameOf) {
  for (unsigned number = 0; number <= largest; ++number) {
    auto value = static_cast<Enum>(number);
    EXPECT_EQ(nameOf(value), llvm::StringRef(artifactNameOf(toArtifact(value))));
  }
}

} // namespace

TEST(Enums, OfTheArtifactHaveTheNamesOfTheDialects) {
  expectSameNames<base::Reduction>(base::getMaxEnumValForReduction(), base::stringifyReduction,
                                   artifact::EnumNameReduction);
  expectSameNames<base::ProgramRole>(base::getMaxEnumValForProgramRole(), base::stringifyProgramRole,
                                     artifact::EnumNameProgramRole);
  expectSameNames<base::When>(base::getMaxEnumValForWhen(), base::stringifyWhen, artifact::EnumNameWhen);
  expectSameNames<base::RoutedKind>(base::getMaxEnumValForRoutedKind(), base::stringifyRoutedKind,
                                    artifact::EnumNameRoutedKind);
  expectSameNames<base::InitKind>(base::getMaxEnumValForInitKind(), base::stringifyInitKind,
                                  artifact::EnumNameInitKind);
  expectSameNames<base::RateKind>(base::getMaxEnumValForRateKind(), base::stringifyRateKind,
                                  artifact::EnumNameRateKind);
  expectSameNames<base::CollectiveKind>(base::getMaxEnumValForCollectiveKind(), base::stringifyCollectiveKind,
                                        artifact::EnumNameCollectiveKind);
}
