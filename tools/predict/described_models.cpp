// SPDX-License-Identifier: Apache-2.0
#include "tools/predict/described_models.h"

#include <array>

namespace gable {
namespace {

// Convolutional networks, layer after layer.
class Images {
 public:
  explicit Images(DescribedModel& model) : model_(model) { model_.sample = "image"; }

  // Same padding; `size` becomes size / stride.
  void conv(const std::string& name, int out, int kernel, int stride = 1, int groups = 1) {
    const int out_size = size_ / stride;
    add_conv(name, channels_, out, kernel, size_, out_size, groups);
    channels_ = out;
    size_ = out_size;
  }
  void side_conv(const std::string& name, int in, int in_size, int out, int stride) {
    const int out_size = in_size / stride;
    add_conv(name, in, out, 1, in_size, out_size, 1);
  }
  void pool() { size_ /= 2; }
  void linear(const std::string& name, double in, double out) {
    model_.layers.push_back({name, 2 * in * out, in * out + out, in + out, 1});
  }
  [[nodiscard]] int channels() const { return channels_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  void add_conv(const std::string& name, double in, double out, double kernel, double in_size,
                double out_size, double groups) {
    const double weights = in / groups * out * kernel * kernel;
    model_.layers.push_back({name, 2 * weights * out_size * out_size, weights + out,
                             in * in_size * in_size + out * out_size * out_size, 1});
  }
  DescribedModel& model_;
  int channels_ = 3, size_ = 224;
};

// K. He et al., "Deep Residual Learning for Image Recognition"; stride in the 3 x 3 convolution, as
// torchvision has it.
DescribedModel resnet(const std::string& name, bool bottleneck, double parameters) {
  DescribedModel model{name, "", {}, parameters};
  Images net(model);
  net.conv("conv1", 64, 7, 2);
  net.pool();
  const std::array<int, 4> blocks =
      bottleneck ? std::array<int, 4>{3, 4, 6, 3} : std::array<int, 4>{2, 2, 2, 2};
  for (int stage = 0; stage < 4; ++stage) {
    const int width = 64 << stage;
    for (int block = 0; block < blocks[static_cast<std::size_t>(stage)]; ++block) {
      const std::string at =
          "layer" + std::to_string(stage + 1) + "." + std::to_string(block) + ".";
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const int in = net.channels(), in_size = net.size();
      const int out = bottleneck ? 4 * width : width;
      if (bottleneck) {
        net.conv(at + "conv1", width, 1);
        net.conv(at + "conv2", width, 3, stride);
        net.conv(at + "conv3", out, 1);
      } else {
        net.conv(at + "conv1", width, 3, stride);
        net.conv(at + "conv2", width, 3);
      }
      if (block == 0 && in != out) net.side_conv(at + "downsample", in, in_size, out, stride);
    }
  }
  net.linear("fc", net.channels(), 1000);
  return model;
}

// K. Simonyan, A. Zisserman, "Very Deep Convolutional Networks", configuration D.
DescribedModel vgg16() {
  DescribedModel model{"vgg16", "", {}, 138357544};
  Images net(model);
  const std::array<int, 5> widths = {64, 128, 256, 512, 512}, counts = {2, 2, 3, 3, 3};
  for (std::size_t stage = 0; stage < widths.size(); ++stage) {
    for (int i = 0; i < counts[stage]; ++i)
      net.conv("conv" + std::to_string(stage + 1) + "_" + std::to_string(i + 1), widths[stage], 3);
    net.pool();
  }
  net.linear("fc6", 512.0 * 7 * 7, 4096);
  net.linear("fc7", 4096, 4096);
  net.linear("fc8", 4096, 1000);
  return model;
}

// M. Sandler et al., "MobileNetV2", table 2.
DescribedModel mobilenet() {
  DescribedModel model{"mobilenet", "", {}, 3504872};
  Images net(model);
  net.conv("conv1", 32, 3, 2);
  struct Group {
    int expand, out, blocks, stride;
  };
  int place = 0;
  for (const Group& group :
       {Group{1, 16, 1, 1}, Group{6, 24, 2, 2}, Group{6, 32, 3, 2}, Group{6, 64, 4, 2},
        Group{6, 96, 3, 1}, Group{6, 160, 3, 2}, Group{6, 320, 1, 1}}) {
    for (int block = 0; block < group.blocks; ++block) {
      const std::string at = "block" + std::to_string(++place) + ".";
      const int wide = net.channels() * group.expand;
      if (group.expand > 1) net.conv(at + "expand", wide, 1);
      net.conv(at + "depthwise", wide, 3, block == 0 ? group.stride : 1, wide);
      net.conv(at + "project", group.out, 1);
    }
  }
  net.conv("conv2", 1280, 1);
  net.linear("fc", 1280, 1000);
  return model;
}

// H. Touvron et al., "Llama 2", and the published configurations (hidden_size, intermediate_size,
// num_hidden_layers, num_attention_heads, num_key_value_heads, vocab_size).
struct LlamaConfig {
  std::string_view name;
  double hidden, inner;
  int layers;
  double heads, kv_heads, vocabulary, parameters;
};
constexpr std::array<LlamaConfig, 2> kLlamas = {
    {{"llama2-7b", 4096, 11008, 32, 32, 32, 32000, 6738415616},
     {"llama2-70b", 8192, 28672, 80, 64, 8, 32000, 68976648192}}};

// `tokens` new ones of a sequence with `context` before and among them. Scores of attention stay on
// the chip. Logits of the last token alone.
DescribedModel llama(const LlamaConfig& of, const std::string& name, const std::string& sample,
                     double tokens, double context) {
  DescribedModel model{name, sample, {}, of.parameters};
  const double head = of.hidden / of.heads, kv = of.kv_heads * head;
  const auto linear = [&](const char* what, double in, double out, double rows, int repeats) {
    model.layers.push_back({what, 2 * rows * in * out, in * out, rows * (in + out), repeats});
  };
  linear("q_proj", of.hidden, of.hidden, tokens, of.layers);
  for (const char* what : {"k_proj", "v_proj"}) linear(what, of.hidden, kv, tokens, of.layers);
  // Q K^T and the product with V; every token is held against the whole context, as kernels without
  // a causal mask do. Q and the result are of the new tokens, K and V of the context.
  model.layers.push_back({"attention", 4 * tokens * context * of.hidden, 0,
                          2 * tokens * of.hidden + 2 * context * kv, of.layers, 2 * context * kv});
  linear("o_proj", of.hidden, of.hidden, tokens, of.layers);
  linear("gate_proj", of.hidden, of.inner, tokens, of.layers);
  linear("up_proj", of.hidden, of.inner, tokens, of.layers);
  linear("down_proj", of.inner, of.hidden, tokens, of.layers);
  linear("lm_head", of.hidden, of.vocabulary, 1, 1);
  return model;
}

}  // namespace

double DescribedModel::flops() const {
  double sum = 0;
  for (const ModelLayer& layer : layers) sum += layer.flops * layer.repeats;
  return sum;
}

DescribedModel described_model(std::string_view name, int sequence) {
  if (name == "resnet18") return resnet("resnet18", false, 11689512);
  if (name == "resnet50") return resnet("resnet50", true, 25557032);
  if (name == "vgg16") return vgg16();
  if (name == "mobilenet") return mobilenet();
  for (const LlamaConfig& of : kLlamas) {
    if (!name.starts_with(of.name)) continue;
    const std::string_view kind = name.substr(of.name.size());
    if (kind == "-prefill") return llama(of, std::string(name), "prompt", sequence, sequence);
    if (kind == "-decode") return llama(of, std::string(name), "token", 1, sequence);
  }
  return {};
}

std::string described_model_names() {
  return "resnet18, resnet50, vgg16, mobilenet, llama2-7b-prefill, llama2-7b-decode, "
         "llama2-70b-prefill, llama2-70b-decode";
}

}  // namespace gable
