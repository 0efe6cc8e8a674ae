"""What a store learned, corrected and forgot over time, told in plain sentences."""
