"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""
