"""Inference for group scores: bootstrap for scores and gaps, permutation of the groups for disparities."""
