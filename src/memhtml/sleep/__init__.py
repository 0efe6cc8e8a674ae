"""Sleep: curation of a store on a branch that a person reviews."""
