"""What Nur needs of the outside, as Protocols."""
