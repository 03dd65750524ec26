"""Every method on every data set: time, memory, test score, and the bars to reach."""
