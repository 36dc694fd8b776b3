//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package file

// SyncDir makes a rename durable; Unsyncable reports media where that is impossible.
var (
	SyncDir    = syncDir
	Unsyncable = unsyncable
)
