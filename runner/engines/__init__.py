"""Engines that this machine starts itself: the embedded one (llama.cpp) and vLLM."""
