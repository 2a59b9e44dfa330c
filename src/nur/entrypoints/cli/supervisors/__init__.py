"""Supervisors that keep the server running: systemd, launchd and the Windows Task Scheduler."""
