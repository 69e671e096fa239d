"""Pages and plots that a person looks at."""
