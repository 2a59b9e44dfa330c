"""REST API under /v2: FastAPI routes that call the services, problem+json errors and an OpenAPI description."""
