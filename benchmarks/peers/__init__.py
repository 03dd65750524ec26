"""One adapter per library, each with ``run(job, data) -> Record``; only an adapter imports its library."""
