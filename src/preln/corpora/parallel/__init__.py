"""Sources of parallel text, a module each. To add a source, add a module here and its settings to
`preln.config.corpora`."""
