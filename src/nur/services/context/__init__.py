"""What an agent should know before anybody asks."""
