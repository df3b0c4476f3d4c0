"""Cache domains in a comparison: in how many domains fragments ran, and in how few they fit."""
