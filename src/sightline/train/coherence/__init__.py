"""The coherence model: the published training, the light network that is embedded, and their stories."""
