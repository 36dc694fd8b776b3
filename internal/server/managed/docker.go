package managed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// ownerLabel is the label of each container with the owner as its value.
const ownerLabel = "io.foreman.owner"

// agentPort is the port of an agent in its container.
const agentPort = "8000/tcp"

// Docker runs containers with a Docker engine, or with Podman, which has the same API. It is safe
// for concurrent use.
type Docker struct {
	c      *client.Client
	podman bool
}

// OpenDocker returns the engine at a socket, such as unix:///var/run/docker.sock. An empty socket
// means the engine that DOCKER_HOST and the other variables of Docker's client name, or else the
// engine at the default socket. OpenDocker does not connect yet.
func OpenDocker(socket string) (*Docker, error) { return open(socket, false) }

// OpenPodman is like [OpenDocker]. An empty socket means the default socket of the user with the ID
// uid; 0 is root.
func OpenPodman(socket string, uid int) (*Docker, error) {
	switch {
	case socket != "":
	case uid == 0:
		socket = "unix:///run/podman/podman.sock"
	default:
		socket = fmt.Sprintf("unix:///run/user/%d/podman/podman.sock", uid)
	}
	return open(socket, true)
}

func open(socket string, podman bool) (*Docker, error) {
	options := []client.Opt{client.FromEnv}
	if socket != "" {
		options = append(options, client.WithHost(socket))
	}
	c, err := client.New(options...)
	if err != nil {
		return nil, fmt.Errorf("find the container engine: %w", err)
	}
	return &Docker{c, podman}, nil
}

// Close closes the connections.
func (d *Docker) Close() error { return d.c.Close() }

// Ping implements [Engine].
func (d *Docker) Ping(ctx context.Context) error {
	_, err := d.c.Ping(ctx, client.PingOptions{})
	return err
}

// Reach returns the IPv4 address of this machine to listen on for containers, and the host by which
// containers reach it. With Docker, both are the address of its bridge network. Podman's bridge does
// not exist before the first container, so the address is that of another interface.
func (d *Docker) Reach(ctx context.Context) (listen netip.Addr, host string, err error) {
	if !d.podman {
		listen, err = d.gateway(ctx)
		return listen, listen.String(), err
	}
	info, err := d.c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return listen, "", fmt.Errorf("inspect Podman: %w", err)
	}
	if listen, err = outside(); err != nil {
		return listen, "", err
	}
	if slices.Contains(info.Info.SecurityOptions, "name=rootless") {
		// In the network of a rootless container, this machine's addresses may belong to the container
		// itself, so use the name that Podman gives to the machine.
		return listen, "host.containers.internal", nil
	}
	return listen, listen.String(), nil
}

// outside returns an IPv4 address of this machine other than loopback, a private one if there is one.
func outside() (netip.Addr, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("list this machine's addresses: %w", err)
	}
	var found netip.Addr
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		switch at := prefix.Addr(); {
		case err != nil || !at.Is4() || !at.IsGlobalUnicast():
		case at.IsPrivate():
			return at, nil
		case !found.IsValid():
			found = at
		}
	}
	if !found.IsValid() {
		return found, errors.New("find an address of this machine for containers: it has only loopback addresses")
	}
	return found, nil
}

// gateway returns the IPv4 address of this machine on Docker's bridge network.
func (d *Docker) gateway(ctx context.Context) (netip.Addr, error) {
	n, err := d.c.NetworkInspect(ctx, network.NetworkBridge, client.NetworkInspectOptions{})
	if err != nil {
		return netip.Addr{}, fmt.Errorf("inspect Docker's bridge: %w", err)
	}
	for _, c := range n.Network.IPAM.Config {
		if c.Gateway.Is4() {
			return c.Gateway, nil
		}
	}
	// Docker does not always report an address that it chose itself, so use that of the interface.
	bridge, err := net.InterfaceByName(n.Network.Options["com.docker.network.bridge.name"])
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the address of Docker's bridge: %w", err)
	}
	addresses, err := bridge.Addrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the address of Docker's bridge: %w", err)
	}
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr(), nil
		}
	}
	return netip.Addr{}, errors.New("find the address of Docker's bridge: it has none")
}

// RemoveAll implements [Engine].
func (d *Docker) RemoveAll(ctx context.Context, owner string) ([]string, error) {
	list, err := d.c.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", ownerLabel+"="+owner),
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range list.Items {
		if err := d.Remove(ctx, c.ID); err != nil {
			return names, err
		}
		names = append(names, strings.TrimPrefix(strings.Join(c.Names, ","), "/"))
	}
	return names, nil
}

// startTimeout is for creating and starting a container.
const startTimeout = 30 * time.Second

// Start implements [Engine].
func (d *Docker) Start(ctx context.Context, owner string, a Agent) (string, error) {
	if err := cmp.Or(d.pull(ctx, a.Image), ctx.Err()); err != nil {
		return "", err
	}
	// Do not cancel this half-way, because the caller needs the ID to remove the container.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	o := client.ContainerCreateOptions{Name: "foreman-" + a.Name + "-" + owner, Config: containerConfig(owner, a), HostConfig: hostConfig(a)}
	created, err := d.c.ContainerCreate(ctx, o)
	if cerrdefs.IsConflict(err) {
		// The engine failed to remove an earlier container of this agent.
		if err := d.Remove(ctx, o.Name); err != nil {
			return "", err
		}
		created, err = d.c.ContainerCreate(ctx, o)
	}
	if err != nil {
		return "", fmt.Errorf("make a container of %s: %w", a.Image, err)
	}
	if _, err := d.c.ContainerStart(ctx, created.ID, client.ContainerStartOptions{}); err != nil {
		return created.ID, fmt.Errorf("start a container of %s: %w", a.Image, err)
	}
	return created.ID, nil
}

// pull pulls an image that is missing.
func (d *Docker) pull(ctx context.Context, image string) error {
	_, err := d.c.ImageInspect(ctx, image)
	if err == nil {
		return nil
	}
	if !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("look for the image %s: %w", image, err)
	}
	progress, err := d.c.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = progress.Wait(ctx)
		_ = progress.Close()
	}
	if err != nil {
		return fmt.Errorf("the image %s is not on this machine and cannot be pulled (try: docker pull %s): %w", image, image, err)
	}
	return nil
}

func containerConfig(owner string, a Agent) *container.Config {
	// Published agents read the server's address from either of the first two variables.
	env := []string{"FOREMAN_HARNESS_URL=" + string(a.HarnessURL), "NIGHT_BROWNIE_URL=" + string(a.HarnessURL), "AGENT_URL=" + a.URL}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+string(a.Env[name]))
	}
	return &container.Config{
		Image: a.Image, User: a.User, Env: env, Labels: map[string]string{ownerLabel: owner},
		ExposedPorts: network.PortSet{network.MustParsePort(agentPort): {}},
	}
}

// hostConfig isolates the container: it can write to /tmp only, cannot gain privileges, and
// is reachable from this machine only.
func hostConfig(a Agent) *container.HostConfig {
	pids := int64(a.PIDs)
	return &container.HostConfig{
		PortBindings: network.PortMap{network.MustParsePort(agentPort): {{
			HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: strconv.Itoa(a.Port),
		}}},
		Resources: container.Resources{
			Memory: int64(a.MemoryMB) << 20, MemorySwap: int64(a.MemoryMB) << 20,
			NanoCPUs: int64(a.CPUs * 1e9), PidsLimit: &pids,
		},
		ReadonlyRootfs: true,
		Tmpfs:          map[string]string{"/tmp": "rw,nosuid,nodev,size=64m"},
		SecurityOpt:    []string{"no-new-privileges:true"},
		CapDrop:        []string{"ALL"},
		LogConfig:      container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10m", "max-file": "2"}},
	}
}

// Wait implements [Engine].
func (d *Docker) Wait(ctx context.Context, id string) (int64, string, error) {
	w := d.c.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-w.Error:
		if cerrdefs.IsNotFound(err) {
			return 0, "", ErrNotFound
		}
		return 0, "", err
	case r := <-w.Result:
		if r.Error != nil {
			return r.StatusCode, "", errors.New(r.Error.Message)
		}
		return r.StatusCode, d.logTail(ctx, id), nil
	}
}

// logTail returns the end of a container's output; empty if the engine does not return it.
func (d *Docker) logTail(ctx context.Context, id string) string {
	logs, err := d.c.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "200"})
	if err != nil {
		return ""
	}
	defer logs.Close()
	var end tailBuffer
	if _, err := stdcopy.StdCopy(&end, &end, logs); err != nil {
		return ""
	}
	return string(end)
}

// A tailBuffer is a writer that keeps the last maxRead bytes.
type tailBuffer []byte

// Write implements io.Writer.
func (t *tailBuffer) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - maxRead; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// Remove implements [Engine]. It gives the container 10 s to stop, and then kills it.
func (d *Docker) Remove(ctx context.Context, id string) error {
	wait := 10
	if _, err := d.c.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &wait}); err != nil && !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("stop a container: %w", err)
	}
	_, err := d.c.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
		return fmt.Errorf("remove a container: %w", err)
	}
	return nil
}
