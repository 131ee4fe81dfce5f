"""Import of switch configurations as fragments of scenarios."""
