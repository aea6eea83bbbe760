"""Engines that this machine starts itself: the embedded one (llama.cpp) and vLLM."""

__all__ = ["embedded", "vllm"]
