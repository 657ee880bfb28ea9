"""Self-contained HTML pages: what everybody may see, and what only the office may."""
