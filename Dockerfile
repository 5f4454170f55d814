# vnd's programs, without ROS 2 installed: docker build -t vnd . && docker run --rm --net=host vnd vnd doctor
# Target tools holds what make deps and make test install, for .devcontainer. Both base images exist for amd64 and arm64.
FROM golang:1.26-bookworm AS tools
# hadolint ignore=DL3008
RUN apt-get update -q \
 && apt-get install -qy --no-install-recommends cyclonedds-dev g++ libdnnl-dev libfastrtps-dev openmpi-bin pkg-config python3-venv \
 && rm -rf /var/lib/apt/lists/*

FROM tools AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update -q \
 && apt-get install -qy --no-install-recommends ca-certificates libddsc0debian libdnnl2 libfastrtps2.9 openmpi-bin \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/bin/ /usr/local/bin/
COPY --from=build /src/params/ /opt/vnd/params/
COPY --from=build /src/launch/ /opt/vnd/launch/
WORKDIR /opt/vnd
CMD ["vnd", "--help"]
