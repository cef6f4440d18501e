"""Any CrossEncoder of sentence-transformers as a reader: the full set-up, 5 s to import, torch on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kb.embed.batches import quiet
from kb.embed.model_files import ModelFiles, find_model
from kb.embed.tokens import Tokens, replace_surrogates
from kb.errors import ModelError
from kb.extras import require
from kb.reader.protocol import MAX_TOKENS, UNREAD_SHARE

FIX = "set reader.model to a CrossEncoder that was trained to rank (a folder, or a name in the Hugging Face cache), or to 'none'"


def open_cross_encoder(model: str, cache: Path) -> CrossEncoderReader:
    """Find the model; torch is imported with the first text.

    raises  ModelError where there is no such model; ExtraMissing without the full set-up
    """
    require(f"the reader {model} needs", "torch", "sentence_transformers")
    try:
        return CrossEncoderReader(find_model(model, cache))
    except ModelError as error:
        raise ModelError(f"no reader '{model}': not a folder, and not in the Hugging Face cache", fix=FIX) from error


class CrossEncoderReader:
    """A `Reader`. Made by `open_cross_encoder`."""

    def __init__(self, files: ModelFiles) -> None:
        self.model_id = files.model_id
        self._files = files
        self._words = Tokens(Path(files.folder), MAX_TOKENS)
        self._model: Any = None

    @property
    def digest(self) -> str:
        """sha256 over weights, configuration and tokenizer."""
        return self._files.digest

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given.

        raises  ModelError for a model that gives several labels
        """
        if not texts:
            return []
        import torch

        pairs = [(replace_surrogates(question), replace_surrogates(text)) for text in texts]
        logits = self._load().predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        if logits.ndim != 1:
            raise ModelError(f"the reader {self.model_id} gives {logits.shape[1]} labels, not one score", fix=FIX)
        return [float(logit) for logit in logits]

    def needs_preparing(self) -> bool:
        """No: nothing is kept."""
        return False

    def can_read(self, text: str) -> bool:
        """Whether the vocabulary has the words."""
        return text.isascii() or self._words.unread_share(text) < UNREAD_SHARE

    def _load(self) -> Any:
        if self._model is None:
            try:
                with quiet():
                    from sentence_transformers import CrossEncoder

                    folder = self._files.folder
                    self._model = CrossEncoder(folder, device="cpu", local_files_only=True, max_length=MAX_TOKENS)
            except Exception as error:  # torch and transformers raise anything
                raise ModelError(f"the reader {self.model_id} cannot be loaded: {error}", fix=FIX) from error
        return self._model
