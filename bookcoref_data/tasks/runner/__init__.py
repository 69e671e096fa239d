"""One way to ask a model for all tasks: an endpoint or a local model, resumable, cached, counted.

`ask` takes requests to a `Model` and keeps every reply in a file, so that a second run asks only what is
new. `EndpointModel` speaks to any server with the OpenAI interface, `LocalModel` loads transformers.
"""
