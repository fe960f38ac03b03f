# SPDX-License-Identifier: Apache-2.0
"""Programs that read, write and listen: models of transformers and others, small and with random weights. language.py NAME"""
import sys

import torch
from torch.nn import functional

STEPS = 20
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}


def tokens(count=2, length=16, most=100):
    return torch.randint(3, most, (count, length))


def train(model, batch, steps=STEPS, optimizer=None):
    """The model gives its loss."""
    optimizer = optimizer or torch.optim.AdamW((each for each in model.parameters() if each.requires_grad), lr=1e-3)
    model.train()
    for _ in range(steps):
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.6f}")


def small_llama(**more):
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(**SMALL, num_key_value_heads=2, vocab_size=128, **more))


def small_t5():
    from transformers import T5Config, T5ForConditionalGeneration
    return T5ForConditionalGeneration(T5Config(vocab_size=128, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
                                               decoder_start_token_id=0))


def small_gpt2(**more):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=64, n_embd=64, n_layer=2, n_head=4, **more))


def language_batch():
    ids = tokens()
    return {"input_ids": ids, "labels": ids}


def bert_by_its_trainer():
    import tempfile

    from transformers import BertConfig, BertForSequenceClassification, PrinterCallback, Trainer, TrainingArguments
    model = BertForSequenceClassification(BertConfig(vocab_size=128, **SMALL))
    data = [{"input_ids": each, "labels": torch.tensor(at % 2)} for at, each in enumerate(tokens(80))]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, per_device_train_batch_size=4, num_train_epochs=1, report_to=[], use_cpu=True, disable_tqdm=True,
                                      save_strategy="no", logging_strategy="no", seed=0, max_grad_norm=1.0)
        trainer = Trainer(model, arguments, train_dataset=data)
        trainer.remove_callback(PrinterCallback)  # it prints how long it took
        result = trainer.train()
    print(f"loss {result.training_loss:.6f}")


def gpt2_with_accumulated_gradients():
    model = small_gpt2()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        for _ in range(2):
            loss = model(**language_batch()).loss / 2
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.6f}")


def llama_generates():
    model = small_llama().eval()
    for _ in range(2):
        written = model.generate(tokens(2, 12), max_new_tokens=16, do_sample=False, pad_token_id=0)
    print(f"written {written.sum().item()}")


def llama_in_a_loop_of_its_own():
    """A key-value cache, greedy, without generate()."""
    model = small_llama().eval()
    with torch.inference_mode():
        for _ in range(2):
            output = model(tokens(2, 12), use_cache=True)
            for _ in range(14):
                chosen = output.logits[:, -1:].argmax(-1)
                output = model(chosen, past_key_values=output.past_key_values, use_cache=True)
    print(f"chosen {chosen.sum().item()}")


def llama_with_lora():
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(small_llama(), LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    train(model, language_batch)


def llama_with_checkpoints():
    model = small_llama()
    model.gradient_checkpointing_enable()
    train(model, language_batch)


def assisted_generation():
    model, assistant = small_llama().eval(), small_llama().eval()
    for _ in range(2):
        written = model.generate(tokens(1, 12), assistant_model=assistant, max_new_tokens=12, do_sample=False, pad_token_id=0)
    print(f"written {written.sum().item()}")


def t5_learns():
    train(small_t5(), lambda: {"input_ids": tokens(), "labels": tokens(2, 8)})


def t5_searches_with_beams():
    model = small_t5().eval()
    for _ in range(2):
        written = model.generate(tokens(2, 12), max_new_tokens=12, num_beams=3, do_sample=False)
    print(f"written {written.sum().item()}")


def bart_learns():
    from transformers import BartConfig, BartForConditionalGeneration
    model = BartForConditionalGeneration(BartConfig(
        vocab_size=128, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=64))
    train(model, lambda: {"input_ids": tokens(), "labels": tokens(2, 8)})


def whisper_transcribes():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    model = WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=128, num_mel_bins=8, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=50, max_target_positions=40,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None)).eval()
    model.generation_config.suppress_tokens = model.generation_config.begin_suppress_tokens = None
    for _ in range(2):
        written = model.generate(torch.rand(1, 8, 100), max_new_tokens=12, do_sample=False)
    print(f"written {written.sum().item()}")


def mixtral_learns():
    from transformers import MixtralConfig, MixtralForCausalLM
    train(MixtralForCausalLM(MixtralConfig(**SMALL, num_key_value_heads=2, num_local_experts=4, vocab_size=128)), language_batch)


def clip_learns():
    from transformers import CLIPConfig, CLIPModel
    part = {**SMALL, "projection_dim": 32}
    model = CLIPModel(CLIPConfig(text_config={**part, "vocab_size": 128}, vision_config={**part, "image_size": 32, "patch_size": 16},
                                 projection_dim=32))
    train(model, lambda: {"input_ids": tokens(4, 8), "pixel_values": torch.rand(4, 3, 32, 32), "return_loss": True})


def open_clip_learns():
    import open_clip
    model = open_clip.model.CLIP(32, open_clip.model.CLIPVisionCfg(layers=2, width=64, head_width=16, patch_size=16, image_size=32),
                                 open_clip.model.CLIPTextCfg(context_length=16, vocab_size=128, width=64, heads=4, layers=2))
    loss_of = open_clip.ClipLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        loss = loss_of(*model(torch.rand(4, 3, 32, 32), tokens(4, 16)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def mamba_learns():
    from transformers import MambaConfig, MambaForCausalLM
    train(MambaForCausalLM(MambaConfig(vocab_size=128, hidden_size=64, num_hidden_layers=2, state_size=8)), language_batch)


def wav2vec2_learns():
    from transformers import Wav2Vec2Config, Wav2Vec2ForCTC
    model = Wav2Vec2ForCTC(Wav2Vec2Config(**SMALL, vocab_size=32, conv_dim=(32, 32), conv_kernel=(10, 3), conv_stride=(5, 2),
                                          num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, mask_time_prob=0, layerdrop=0.0))
    train(model, lambda: {"input_values": torch.rand(2, 800), "labels": tokens(2, 6, 32)})


def detr_learns():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
    backbone = ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1], out_features=["stage4"])
    model = DetrForObjectDetection(DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, num_queries=10, d_model=64,
        encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
        num_labels=5))

    def batch():
        boxes = torch.tensor([[0.5, 0.5, 0.2, 0.2], [0.3, 0.3, 0.2, 0.4]])
        return {"pixel_values": torch.rand(2, 3, 64, 64), "labels": [{"class_labels": torch.tensor([1, 2]), "boxes": boxes} for _ in range(2)]}
    train(model, batch)


def pipeline_of_transformers():
    """A tokenizer made here, and text from pipeline("text-generation")."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, pipeline
    words = {"<pad>": 0, "<unk>": 1, **{word: at + 2 for at, word in enumerate("the quick brown fox jumps over a lazy dog".split())}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    writer = pipeline("text-generation", model=small_gpt2(bos_token_id=0, eos_token_id=0),
                      tokenizer=PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>"), device="cpu")
    for _ in range(2):
        written = writer("the quick brown fox", max_new_tokens=14, do_sample=False)
    print(written[0]["generated_text"][:19])


def sentence_transformers_embed():
    """Its own modules around BERT: a transformer, pooling, normalization."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts
    import tempfile

    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, **{word: at + 4 for at, word in enumerate("a dog saw the cat".split())}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with tempfile.TemporaryDirectory() as folder:
        BertModel(BertConfig(vocab_size=16, **SMALL)).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32).save_pretrained(folder)
        transformer = parts.Transformer(folder)
        model = SentenceTransformer(modules=[transformer, parts.Pooling(64), parts.Normalize()], device="cpu")
    for _ in range(STEPS):
        vectors = model.encode(["a dog saw the cat", "the cat"], show_progress_bar=False)
    print(f"vectors {float(vectors.sum()):.4f}")


def x_transformers_learn():
    """lucidrains' x-transformers, with a wrapper that makes the loss."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=128, max_seq_len=32, attn_layers=Decoder(dim=64, depth=2, heads=4)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        loss = model(tokens(2, 32))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.6f}")


def lstm_word_model():
    """The word language model of PyTorch's examples: truncated backpropagation, its own SGD."""
    from torch import nn

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.encoder = nn.Dropout(0.2), nn.Embedding(100, 32)
            self.rnn, self.decoder = nn.LSTM(32, 64, 2, dropout=0.2), nn.Linear(64, 100)

        def forward(self, text, hidden):
            out, hidden = self.rnn(self.drop(self.encoder(text)), hidden)
            return functional.log_softmax(self.decoder(self.drop(out)).view(-1, 100), dim=1), hidden

    model, hidden = Words(), (torch.zeros(2, 4, 64), torch.zeros(2, 4, 64))
    for _ in range(STEPS):
        text = tokens(12, 4)
        model.zero_grad()
        hidden = tuple(each.detach() for each in hidden)
        output, hidden = model(text[:-1], hidden)
        loss = functional.nll_loss(output, text[1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for each in model.parameters():
                each.add_(each.grad, alpha=-0.1)
    print(f"loss {loss.item():.6f}")


PROGRAMS = (
    bert_by_its_trainer, gpt2_with_accumulated_gradients, llama_generates, llama_in_a_loop_of_its_own, llama_with_lora,
    llama_with_checkpoints, assisted_generation, t5_learns, t5_searches_with_beams, bart_learns, whisper_transcribes, mixtral_learns,
    clip_learns, open_clip_learns, mamba_learns, wav2vec2_learns, detr_learns, pipeline_of_transformers, sentence_transformers_embed,
    x_transformers_learn, lstm_word_model)

if __name__ == "__main__":
    torch.manual_seed(0)
    {each.__name__: each for each in PROGRAMS}[sys.argv[1]]()
