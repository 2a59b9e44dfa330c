"""An embedder behind a wire, guarded: a provider that fails is waited for once, not by every search."""
