"""What is wrong with a store, told by its tree, and what can be mended without losing anything."""
