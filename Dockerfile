# Build stage: install the dependencies and the package into a virtual environment.
FROM python:3.11.15-slim-bookworm AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/nur
WORKDIR /build
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY requirements/run.txt requirements/run.txt
COPY release release
COPY src src
# The constraints pin every version. Chroma runs in its own container, so its thin client is enough and halves the image.
RUN /opt/nur/bin/pip install -c requirements/run.txt '.[files,openai,postgres,qdrant]' chromadb-client==1.5.9

# Run stage: the virtual environment, an unprivileged user, and a folder for the store.
FROM python:3.11.15-slim-bookworm

RUN groupadd --system --gid 10001 nur \
    && useradd --system --uid 10001 --gid nur --home-dir /data --no-create-home --shell /usr/sbin/nologin nur \
    && install -d -o nur -g nur -m 0700 /data
COPY --from=build /opt/nur /opt/nur

ENV PATH=/opt/nur/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUR_DATA_DIR=/data \
    NUR_BIND=0.0.0.0 \
    MCP_PORT=3000

USER nur
WORKDIR /data
VOLUME /data
EXPOSE 3000
# The slim image has no curl. /livez needs no token and touches neither the store nor the network.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['MCP_PORT'] + '/livez', timeout=4)"]

# NUR_BIND is reachable from outside the container: `nur serve` refuses to start here without NUR_TOKEN,
# unless NUR_PUBLISHED_ON_LOOPBACK=1 says that the port is published on the host's loopback only.
CMD ["nur", "serve"]
