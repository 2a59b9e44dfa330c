"""Files that ship with the package; `importlib.resources` reads them.

`models.json` names the files of the local models, which the build takes from other packages.
"""
