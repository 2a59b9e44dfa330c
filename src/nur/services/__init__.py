"""Use cases, one per module. They decide what happens in which order and call ports to do it."""
