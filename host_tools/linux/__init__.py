"""The agent on Linux boards: its interpreter as a kit, releases, and everything that is done over ssh."""
