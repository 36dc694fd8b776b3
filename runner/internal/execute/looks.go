package execute

import "time"

// Settle is how long a write of unknown outcome may still take effect. It is more than the 10 s
// after which GitHub ends a request.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts
const Settle = 11 * time.Second

// Looks times the look-ups of writes whose outcome is unknown: after pauses of 1, 2, 3 and more
// seconds, and when Rest is over. Only then may such a write be repeated.
type Looks struct {
	Rest time.Duration // until the writes can no longer take effect; 0 or less: they cannot

	pause time.Duration
}

// Next returns the pause before the next look-up, and subtracts it from Rest.
func (l *Looks) Next() time.Duration {
	l.pause = min(l.pause+time.Second, l.Rest)
	l.Rest -= l.pause
	return l.pause
}
