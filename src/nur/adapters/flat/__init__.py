"""The default index: in process, without files."""
