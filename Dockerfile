# The action's image: one static program, a CA bundle and /tmp. It contains no shell and no package
# manager, and only the Go toolchain takes part in the build.
#
# The base is an argument so that the image can be built from a mirror, a digest or a local image:
#   docker build --build-arg GO_IMAGE=registry.example/golang@sha256:… .
ARG GO_IMAGE=golang:1.26-bookworm

FROM ${GO_IMAGE} AS build
# Unset arguments leave the toolchain's own defaults in place.
ARG GOPROXY
ARG GOSUMDB
ARG GOFLAGS
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src

# The program's dependencies are fetched and compiled before its source is copied, so that a change
# of the source reuses this layer. Modules that only tests use are not fetched.
# The action makes a few calls one after another. HTTP/2 would gain nothing, and takes 0.4 MB.
COPY go.mod go.sum ./
RUN go build -trimpath -tags nethttpomithttp2 \
      github.com/expr-lang/expr github.com/google/go-github/v62/github github.com/sethvargo/go-githubactions \
      github.com/spf13/cobra golang.org/x/term gopkg.in/yaml.v3

COPY . .
ARG VERSION
# A scratch image has no /tmp and no certificates, so this step adds both to the program.
RUN go build -trimpath -tags nethttpomithttp2 -ldflags "-s -w -X github.com/org/foreman-action/internal/cli/image.buildVersion=${VERSION}" \
      -o /out/foreman ./cmd/action \
 && mkdir -p /out/etc/ssl/certs /out/tmp \
 && chmod 1777 /out/tmp \
 && cp -L /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt

FROM scratch
ARG VERSION
ARG REVISION
# The repository that the image names.
ARG REPOSITORY=org/foreman-action
LABEL org.opencontainers.image.title="foreman" \
      org.opencontainers.image.description="Rules or agents decide. Foreman acts: issue events become ordered, guarded writes." \
      org.opencontainers.image.source="https://github.com/${REPOSITORY}" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /out/ /
# There is no USER on purpose: the runner mounts the workspace and the files for outputs and the
# summary as its own user with mode 0644, and only root in the container can append to them.
ENTRYPOINT ["/foreman"]
