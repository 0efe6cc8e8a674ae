"""The phases of sleep, a module each; see `memhtml.sleep.phase` for what one is."""
