# SPDX-License-Identifier: Apache-2.0
"""Tells the forwards of text generation apart: prefill reads a prompt, decode makes one token of each sequence after another.

A forward without gradients whose tokens (input_ids, inputs_embeds, or a first tensor of integers, each of sequences x tokens)
are one a sequence, after longer ones, is decode. Without a cache the tokens grow by one each time. The longer ones are prefill
as soon as the model is known to generate: it has decoded before, or a function called `generate` calls it.

Of an encoder and a decoder the tokens are the decoder's. When the encoder alone runs, which reads a prompt of any kind, it is prefill.
"""
import weakref

from gable_profiler._places import caller

_FUNCTIONS_AROUND = 16  # looked at for one that is called generate
_GROWTHS = 2  # by one token each, in a row: then the model generates without a cache
_TOKENS = ("decoder_input_ids", "decoder_inputs_embeds", "input_ids", "inputs_embeds")


class _Model:
    def __init__(self):
        self.shape = (0, 0)  # sequences and tokens of the last forward
        self.growths = 0
        self.prompted = self.decodes = False


def _encodes(names):
    """Whether these names lead to an encoder, or within it."""
    for name in names:
        if "decoder" in name:
            return False
        if "encoder" in name:
            return True
    return False


class Generation:
    def __init__(self, torch, library, description, holders):
        self._library = library
        self._description = description
        self._holders = holders
        self._tensor = torch.Tensor
        self._grad_enabled = torch.is_grad_enabled
        self.models = {}  # token of an outermost module, or of what holds it: what is known of it

    def forget(self, token):
        self.models.pop(token, None)

    def _model(self, module):
        token = id(module)
        model = self.models.get(token)
        if model is None:
            model = self.models[token] = _Model()
            model.dies = weakref.ref(module, lambda _: self.forget(token))
        return model

    def begin(self, module, args, kwargs):
        """Opens the layer prefill or decode around the forward of an outermost module. Its depth, 0 when it is neither."""
        try:
            if self._library.gable_module_at(0) != 0 or self._grad_enabled():  # it is called within another one
                return 0
            holder, names = self._holders(module)
            model = self._model(module if holder is None else holder)
            shape = self._shape(args, kwargs)
            if _encodes(names):
                kind = self._encoder_kind(model)
            elif shape is not None:
                model.prompted = model.prompted or kwargs.get("encoder_outputs") is not None
                kind = self._kind(model, shape)
            else:
                kind = None
            if kind is None:
                return 0
            tokens = None if shape is None else (shape[0], 1 if kind == b"decode" else shape[1])
            self._description.forward_begins((kind, tokens))
            depth = self._library.gable_open(kind, 0, 0)
            if depth > 0 and tokens is not None:
                self._library.gable_tokens(*tokens)
            return max(depth, 0)
        except Exception:  # odd arguments: the forward is not told apart
            return 0

    def _shape(self, args, kwargs):
        tokens = next((kwargs[name] for name in _TOKENS if kwargs.get(name) is not None), None)
        if tokens is None and args and isinstance(args[0], self._tensor) and args[0].dim() == 2 \
                and not (args[0].is_floating_point() or args[0].is_complex()):
            tokens = args[0]
        if not isinstance(tokens, self._tensor) or tokens.dim() < 2:
            return None
        return tokens.shape[0], tokens.shape[1]

    def _encoder_kind(self, model):
        model.prompted = True
        model.shape, model.growths = (0, 0), 0
        return b"prefill" if model.decodes or _is_generating() else None

    def _kind(self, model, shape):
        last, model.shape = model.shape, shape
        if shape[1] == 1:
            model.decodes = model.decodes or model.prompted
            return b"decode" if model.prompted else None
        model.prompted = True
        model.growths = model.growths + 1 if shape == (last[0], last[1] + 1) else 0
        if model.growths >= _GROWTHS or (model.growths > 0 and model.decodes):
            model.decodes = True
            return b"decode"
        return b"prefill" if model.decodes or _is_generating() else None


def _is_generating():
    frame = caller(2)
    for _ in range(_FUNCTIONS_AROUND):
        if frame is None:
            return False
        if frame.f_code.co_name == "generate":
            return True
        frame = frame.f_back
    return False
