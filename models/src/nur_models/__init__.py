"""The files of the sentence models that Nur runs; `models.json` has their hashes."""
