"""What keeps a server running: systemd, launchd or the Windows task scheduler."""
