"""The recipes, each a file of its own: when it fits a nest, and the steps that it takes."""
