//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package file

// SyncDir makes a rename durable, and Unsyncable says when nothing does.
var (
	SyncDir    = syncDir
	Unsyncable = unsyncable
)
