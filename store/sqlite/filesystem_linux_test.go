package sqlite

import "testing"

func TestRemoteFileSystems(t *testing.T) {
	t.Parallel()
	for fs, want := range map[uint32]bool{0x6969: false, 0xfe534d42: false, 0x01021997: false, 0xef53: true, 0x01021994: true} {
		if err := checkType("/data", fs); (err == nil) != want {
			t.Errorf("%#x: got %v, want it accepted: %v", fs, err, want)
		}
	}
}
