"""`tenner web`: a page for a browser on this computer, and the API under it; docs/web.md describes
both."""
