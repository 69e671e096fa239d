"""The outside world: cache, http, Gutenberg, the Hub, Wikidata, study guides."""
