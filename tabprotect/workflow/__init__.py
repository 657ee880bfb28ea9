"""From a request to a release: one way for every face."""
