"""Files that ship with the package; `importlib.resources` reads them."""
