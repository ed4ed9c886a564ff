"""Models as the settings name them: the client of language models.

Owns the wiring from settings to `smb.inference`. Never reads a bank: where prompts go is the person's to say, not a
bank's that came with git.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smb.config import DEFAULT_ORIGIN, Settings

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient


def model_client(settings: Settings) -> ModelClient:
    """A client for the configured host and model; nothing is sent before its first call."""
    from smb.inference.ollama_client import ModelClient
    from smb.inference.wire import Limits

    limits = Limits(call=settings.model_timeout, context=settings.model_context, parallel=settings.model_parallel)
    origin = settings.origin("ollama_model")
    return ModelClient(settings.ollama_host, settings.ollama_model, origin="the settings" if origin == DEFAULT_ORIGIN else origin, limits=limits)
