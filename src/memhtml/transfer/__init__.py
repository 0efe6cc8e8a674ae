"""Memories from elsewhere and to elsewhere: readers of other tools' files, and exports."""
