"""The agent on Linux boards: its interpreter as a kit, releases, and the work over ssh."""
