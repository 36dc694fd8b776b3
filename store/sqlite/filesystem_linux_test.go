package sqlite

import "testing"

func TestRemoteFileSystems(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]bool{0x6969: false, 0xfe534d42: false, 0xef53: true, 0x01021994: true} {
		if err := checkMagic("/data", magic); (err == nil) != want {
			t.Errorf("%#x: got %v, want it accepted: %v", magic, err, want)
		}
	}
}
