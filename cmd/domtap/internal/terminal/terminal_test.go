package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// memory returns the memory of a terminal in a directory of the test.
func memory(dir, key string) *Memory { return MemoryOf(dir, "unix:///s", key) }

func TestATerminalRemembersWhatItOpened(t *testing.T) {
	dir := t.TempDir()
	one, other := memory(dir, "one"), memory(dir, "other")
	last := func(m *Memory) string {
		tab, _ := m.Load().Last()
		return tab.ID
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(one.Opened("d", Tab{ID: "t1"}))
	do(other.Opened("d", Tab{ID: "t2"}))
	do(one.Opened("d", Tab{ID: "t3"}))
	if last(one) != "t3" || last(other) != "t2" || last(MemoryOf(dir, "unix:///other", "one")) != "" {
		t.Errorf("they remember %+v, %+v", one.Load(), other.Load())
	}
	do(one.Closed("t2")) // a tab of the other terminal
	do(one.Closed("t3"))
	if last(one) != "t1" || last(other) != "t2" {
		t.Errorf("after a close: %+v, %+v", one.Load(), other.Load())
	}
	do(one.Restored("t1", true))
	do(one.Restored("t2", true))
	if tab, _ := one.Load().Last(); !tab.Restored || len(one.Load().Opened) != 1 {
		t.Errorf("got %+v", one.Load())
	}
	do(one.Opened("next", Tab{ID: "t1"}))
	if got := one.Load(); got.Daemon != "next" || len(got.Opened) != 1 || got.Opened[0].Restored {
		t.Errorf("with the next daemon: %+v", got)
	}
	var none *Memory
	if _, opened := none.Load().Last(); opened || none.Opened("d", Tab{ID: "t1"}) != nil || none.Closed("t1") != nil {
		t.Error("no memory remembers")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	long := memory(dir, "long")
	for i := range 2 * maxTabs {
		if err := long.Opened("d", Tab{ID: fmt.Sprint("t", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(long.Load().Opened); n != maxTabs {
		t.Errorf("%d tabs are remembered", n)
	}
	old := memory(dir, "old")
	if err := old.Opened("d", Tab{ID: "t1"}); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-2 * maxAge)
	if err := os.Chtimes(old.file, then, then); err != nil {
		t.Fatal(err)
	}
	if _, opened := old.Load().Last(); opened {
		t.Error("what is too old is remembered")
	}
	for i := range maxFiles + 10 {
		if err := memory(dir, fmt.Sprint(i)).Opened("d", Tab{ID: "t1"}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "terminals"))
	if err != nil || len(files) != maxFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := os.Stat(old.file); !os.IsNotExist(err) {
		t.Errorf("the old file: %v", err)
	}
}

func TestBrokenFileIsIgnored(t *testing.T) {
	m := memory(t.TempDir(), "x")
	if err := m.Opened("d", Tab{ID: "t1"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "[]", "{", string(make([]byte, maxSize+1))} {
		if err := os.WriteFile(m.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := m.Load(); got.Daemon != "" || len(got.Opened) > 0 {
			t.Errorf("%.10q: %+v", text, got)
		}
	}
	if err := m.Opened("d", Tab{ID: "t2"}); err != nil || m.Load().Daemon != "d" {
		t.Errorf("it does not recover: %v", err)
	}
}
