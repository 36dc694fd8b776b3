package assembly

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"

	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/managed"
)

// containers returns the agents that the server starts in containers, each once.
func containers(s *serverconfig.Config) []managed.Agent {
	var list []managed.Agent
	seen := map[int]bool{}
	for _, r := range s.Repos {
		for _, a := range r.Agents {
			if !a.Managed() || seen[a.Port] {
				continue
			}
			seen[a.Port] = true
			list = append(list, managed.Agent{
				Name: fmt.Sprintf("%s-%d", unsafe.ReplaceAllString(a.Type, "-"), a.Port), Image: a.Image, Port: a.Port, URL: a.Address(),
				Env: a.Container.Env, MemoryMB: a.Container.MemoryMB, CPUs: a.Container.CPUs, PIDs: a.Container.PIDs, User: a.Container.User,
			})
		}
	}
	return list
}

// unsafe matches characters that a container's name must not contain.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// openEngine returns the engine of the configuration.
func openEngine(c serverconfig.Containers) (*managed.Docker, error) {
	if c.Backend == "podman" {
		return managed.OpenPodman(c.SocketURL, os.Getuid())
	}
	return managed.OpenDocker(c.SocketURL)
}

// newSupervisor returns the supervisor of the managed agents, and the listener by which the agents
// reach the server. It adds a credential for each agent. Without managed agents, supervisor and
// listener are nil. The caller closes the listener, even after an error.
func newSupervisor(ctx context.Context, o Options, c *access.Credentials) (*managed.Supervisor, net.Listener, error) {
	list := containers(o.Settings)
	if len(list) == 0 {
		return nil, nil, nil
	}
	engine, err := openEngine(o.Settings.Containers)
	if err != nil {
		return nil, nil, err
	}
	if err := engine.Ping(ctx); err != nil {
		return nil, nil, fmt.Errorf("the configuration has agents with config.image, which need the engine of containers.backend (%s): %w", o.Settings.Containers.Backend, err)
	}
	address, host, err := engine.Reach(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address.String(), "0"))
	if err != nil {
		return nil, nil, fmt.Errorf("listen for managed agents: %w", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // it was made from a host and a port
	for i := range list {
		name, text := fmt.Sprintf("managed-%d", list[i].Port), rand.Text()
		if err := c.Add(access.Credential{Name: name, Secret: secret.Text(text), Agents: []string{list[i].URL}}); err != nil {
			return nil, l, err
		}
		u := url.URL{Scheme: "http", User: url.UserPassword(name, text), Host: net.JoinHostPort(host, port)}
		list[i].HarnessURL = secret.Text(u.String())
	}
	f, err := managed.New(managed.Options{Engine: engine, Agents: list, Owner: ownerOf(o.Databases.Queue, o.Settings.Server), Log: logpart.Of(o.Log, logpart.Agents)})
	return f, l, err
}

// ownerOf returns the name by which a server recognizes its containers. It is the same in every
// run, and differs from that of other servers on the machine. It depends on the configured port,
// because a free port differs at each start.
func ownerOf(queue string, s serverconfig.Server) string {
	sum := sha256.Sum256([]byte(database.Key(queue) + "\n" + hostPort(s)))
	return hex.EncodeToString(sum[:6])
}
