"""The web page: plain files in `static/`, one module per view, with REST as their only source."""
