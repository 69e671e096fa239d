"""The paper's pipeline with its models from the hub: ReLiK links, Qwen2 filters, Maverick expands.

Needs the extra `gpu` (torch, transformers). The networks are run by code of this package; see docs/gpu.md.
"""
