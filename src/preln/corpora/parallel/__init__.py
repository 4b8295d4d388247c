"""The sources of parallel text, a module each. Adding one is adding a module here and its settings in
`preln.config.corpora`."""
