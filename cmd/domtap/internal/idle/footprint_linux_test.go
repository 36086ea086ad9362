package idle

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const smaps = `00400000-019e5000 r-xp 00000000 fe:00 1234   /usr/bin/my domtap
Size:              21396 kB
Rss:               11000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
019e5000-02ff0000 r--p 015e5000 fe:00 1234   /usr/bin/my domtap
Anonymous:             0 kB
02ff0000-03100000 r--p 02bf0000 fe:00 1234   /usr/bin/my domtap
Anonymous:             8 kB
03100000-03200000 rw-p 02d00000 fe:00 1234   /usr/bin/my domtap
Anonymous:             0 kB
03200000-03300000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 99   /usr/lib/libc.so.6
Anonymous:             0 kB
`

func TestOnlyWhatTheFileHasIsDropped(t *testing.T) {
	got := droppable(strings.NewReader(smaps), "/usr/bin/my domtap")
	if want := []mapping{{0x400000, 0x19e5000}, {0x19e5000, 0x2ff0000}}; !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestAProgramRunsOnWithoutItsPages drops the pages of the test program, then calls code and reads constants.
func TestAProgramRunsOnWithoutItsPages(t *testing.T) {
	if _, err := os.Stat("/proc/self/smaps"); err != nil {
		t.Skip("no /proc/self/smaps:", err)
	}
	for range 3 {
		if err := dropProgramPages(); err != nil {
			t.Fatal(err)
		}
	}
	if got := droppable(strings.NewReader(smaps), "/usr/lib/libc.so.6"); len(got) != 1 {
		t.Errorf("got %x", got)
	}
	if used, err := processorTime(); err != nil || used <= 0 {
		t.Errorf("got %v, %v", used, err)
	}
}
