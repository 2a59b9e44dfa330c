"""Data files of the sentence models that Nur runs; `models.json` lists their hashes."""
