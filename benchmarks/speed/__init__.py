"""What takes how long: growing tables, predictions, rankings, several tasks, large files."""
