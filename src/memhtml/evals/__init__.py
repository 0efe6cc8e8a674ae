"""Whether memories are found as they should be: in a store made for it, and in the user's own."""
