// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/launch_filter.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

class Filter : public testing::Test {
 protected:
  // A layer by its names, with PyTorch's own name for it.
  LayerId layer(const std::vector<std::string>& names, Direction direction = Direction::forward) {
    LayerId id = 0;
    std::string dotted;
    for (const auto& name : names) {
      id = layers_.child(id, name, direction);
      if (id == 0 || name == names.front()) continue;
      dotted += (dotted.empty() ? "" : ".") + name;
      layers_.set_dotted(id, dotted);
    }
    return id;
  }
  LaunchKey key(LayerId layer, const char* kernel = "gemm") {
    LaunchKey key;
    key.layer = layer;
    key.function = functions_.intern(kernel);
    return key;
  }
  LayerTree layers_;
  FunctionTable functions_;
  const LayerId conv_ = layer({"ResNet", "layer1", "0", "conv1"});
  const LayerId back_ = layer({"ResNet", "layer1", "0", "conv1"}, Direction::backward);
  const LayerId other_ = layer({"ResNet", "layer10", "0", "conv1"});
  const LayerId head_ = layer({"ResNet", "fc"});
};

TEST_F(Filter, WithoutPatternsAllIsWanted) {
  LaunchFilter filter({}, layers_, functions_);
  EXPECT_TRUE(filter.wanted(key(conv_)));
  EXPECT_TRUE(filter.wanted(key(0)));
  EXPECT_TRUE(filter.unmatched().empty());
}

TEST_F(Filter, APatternMeansALayerAndAllWithinIt) {
  for (const char* text : {"layer1", "ResNet/layer1", "layer1.0", "*/layer1/*", "regex:^layer1$"}) {
    LaunchFilter filter({{}, {text}, {}}, layers_, functions_);
    EXPECT_TRUE(filter.wanted(key(conv_))) << text;
    EXPECT_TRUE(filter.wanted(key(back_))) << text;
    EXPECT_FALSE(filter.wanted(key(other_))) << text;
    EXPECT_FALSE(filter.wanted(key(head_))) << text;
    EXPECT_FALSE(filter.wanted(key(0))) << text;
    EXPECT_TRUE(filter.unmatched().empty()) << text;
  }
}

TEST_F(Filter, WhatIsExcludedIsNotIncluded) {
  LaunchFilter filter({{}, {"ResNet"}, {"layer1", "conv1"}}, layers_, functions_);
  EXPECT_FALSE(filter.wanted(key(conv_)));
  EXPECT_FALSE(filter.wanted(key(other_)));
  EXPECT_TRUE(filter.wanted(key(head_)));
}

TEST_F(Filter, KernelsAndLayersBothHaveToMatch) {
  LaunchFilter filter({{"gemm"}, {"fc"}, {}}, layers_, functions_);
  EXPECT_TRUE(filter.wanted(key(head_)));
  EXPECT_FALSE(filter.wanted(key(head_, "add")));
  EXPECT_FALSE(filter.wanted(key(conv_)));
}

TEST_F(Filter, APatternThatMatchesNothingIsSaid) {
  LaunchFilter filter({{"add"}, {"fc", "decoder"}, {"lm_head"}}, layers_, functions_);
  EXPECT_TRUE(filter.unmatched().empty());  // nothing was launched yet
  EXPECT_FALSE(filter.wanted(key(head_)));  // in the layer, though -k leaves it out
  const auto sentences = filter.unmatched();
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_NE(sentences[0].find("--include 'decoder' matches no layer"), std::string::npos);
  EXPECT_NE(sentences[1].find("--exclude 'lm_head' matches no layer"), std::string::npos);
}

TEST_F(Filter, TheProgramsChoiceReplacesTheOptions) {
  LaunchFilter filter({{"gemm"}, {"layer1"}, {}}, layers_, functions_);
  EXPECT_TRUE(filter.wanted(key(conv_)));
  EXPECT_FALSE(filter.wanted(key(head_)));
  EXPECT_TRUE(filter.choose_layers({"fc"}, {}).empty());
  EXPECT_FALSE(filter.wanted(key(conv_)));
  EXPECT_TRUE(filter.wanted(key(head_)));
  EXPECT_FALSE(filter.wanted(key(head_, "copy"))) << "-k holds as ever";
  EXPECT_TRUE(filter.choose_layers({}, {"fc"}).empty());
  EXPECT_TRUE(filter.wanted(key(conv_)));
  EXPECT_FALSE(filter.wanted(key(head_)));
}

TEST_F(Filter, APatternOfTheProgramThatIsNoneIsLeftOutWithASentence) {
  LaunchFilter filter({{}, {"fc"}, {}}, layers_, functions_);
  const auto sentences = filter.choose_layers({"regex:("}, {});
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0].rfind("gable.profile's include 'regex:(' is left out: ", 0), 0U)
      << sentences[0];
  EXPECT_TRUE(filter.wanted(key(conv_)));
}

}  // namespace
}  // namespace gable
