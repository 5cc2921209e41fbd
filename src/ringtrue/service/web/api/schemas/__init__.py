"""What travels through the API, as Pydantic models."""
