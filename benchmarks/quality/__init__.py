"""How good models are: losses, several tasks, the choices of group testing."""
