package serverconfig

import (
	"strings"

	"github.com/org/foreman-action/internal/config/schema"
)

// Containers configures the engine that runs the agents with an image.
type Containers struct {
	Backend   string `default:"docker"           yaml:"backend"` // "docker" or "podman"
	SocketURL string `yaml:"socket_url,nullable"`                // such as unix:///run/podman/podman.sock; empty: the engine's default
}

func containersKeys() schema.Table {
	return schema.Table{
		{Path: "containers", Doc: "The engine that runs agents with config.image."},
		{Path: "containers.backend", Rule: schema.OneOf("docker", "podman", "apple"),
			Doc: "docker (the default) or podman, by its Docker-compatible socket; apple, of published files, is not supported."},
		{Path: "containers.socket_url", Rule: schema.Text("an address such as unix:///run/podman/podman.sock", func(s string) bool {
			scheme, rest, ok := strings.Cut(s, "://")
			return s == "" || ok && scheme != "" && rest != ""
		}), Doc: "Socket of the engine. Absent: DOCKER_HOST or Docker's default; for podman the socket of the user who runs the server."},
	}
}

func (c *Containers) check(f file) {
	if c.Backend == "apple" {
		f.Problemf(f.node("containers", "backend"), "containers.backend: Apple's containers have no socket that the server can use; set docker or podman, or start the agents yourself and name them with config.url")
	}
}
