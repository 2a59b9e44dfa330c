"""REST under /v2: FastAPI routes that translate, with problem+json errors and an OpenAPI description."""
