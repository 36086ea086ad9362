package journal_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/journal"
)

var tabs = []restore.Record{
	{ID: "t1", Session: "default", URL: "https://shop.example/", Refs: 65536, Viewport: dom.Box{Width: 1280, Height: 800}},
	{ID: "b1-t4", Session: "work", URL: "https://shop.example/käse?q=\"x\"", Refs: 7, Restarts: 2, Place: driver.ScrollPosition{
		X: 1, Y: 2.5, Boxes: []driver.ScrolledBox{{Path: []int{1, 0, 3}, Y: 400}},
	}},
}

// keep opens a journal, stores tabs in it and closes it.
func keep(t *testing.T, path string, all ...restore.Record) string {
	t.Helper()
	log, logger := logged()
	b, _ := journal.Open(path, logger)
	for _, k := range all {
		b.Keep(k)
	}
	b.Close()
	return log.String()
}

func logged() (*bytes.Buffer, *slog.Logger) {
	var b bytes.Buffer
	return &b, slog.New(slog.NewTextHandler(&b, nil))
}

// open reads the contents of a journal.
func open(t *testing.T, path string) ([]restore.Record, string) {
	t.Helper()
	log, logger := logged()
	b, kept := journal.Open(path, logger)
	b.Close()
	return kept, log.String()
}

func TestKeptTabsAreReadByTheNextProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabs")
	keep(t, path, tabs...)
	kept, log := open(t, path)
	if !reflect.DeepEqual(kept, tabs) || log != "" {
		t.Errorf("read %+v, log %q", kept, log)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	log2, logger := logged()
	b, _ := journal.Open(path, logger)
	b.Forget("t1")
	b.Forget("t99")
	b.Close()
	if kept, _ := open(t, path); !reflect.DeepEqual(kept, tabs[1:]) || log2.Len() > 0 {
		t.Errorf("after t1 was forgotten: %+v", kept)
	}
}

func TestClearForgetsAtOnceAndForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabs")
	keep(t, path, tabs...)
	_, logger := logged()
	b, _ := journal.Open(path, logger)
	b.Clear()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file is still there")
	}
	b.Keep(tabs[0])
	b.Close()
	if kept, _ := open(t, path); len(kept) > 0 {
		t.Errorf("kept %+v", kept)
	}
}

func TestUnreadableFileIsMovedAside(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "tabs")
	keep(t, whole, tabs...)
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 4
	for name, data := range map[string][]byte{
		"empty": {}, "truncated": good[:len(good)-10], "flipped": flipped, "another version": bytes.Replace(good, []byte(" 1 "), []byte(" 2 "), 1),
		"zeroes": make([]byte, len(good)), "huge": bytes.Repeat([]byte("x"), journal.MaxBytes+1),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tabs")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			kept, log := open(t, path)
			if len(kept) > 0 || !strings.Contains(log, "was renamed") {
				t.Errorf("read %+v, log %q", kept, log)
			}
			if aside, err := os.ReadFile(path + ".bad"); err != nil || !bytes.Equal(aside, data) {
				t.Errorf("what was set aside has %d bytes, %v", len(aside), err)
			}
			keep(t, path, tabs...)
			if kept, _ := open(t, path); len(kept) != len(tabs) {
				t.Errorf("afterwards %d tabs are kept", len(kept))
			}
		})
	}
	t.Run("directory", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tabs")
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if kept, log := open(t, path); len(kept) > 0 || !strings.Contains(log, "was renamed") {
			t.Errorf("read %+v, log %q", kept, log)
		}
	})
}

func TestFailedWriteKeepsTheOldFileAndWarnsOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tabs")
	keep(t, path, tabs...)
	// A directory blocks the path of the new file. This works for root, too, which may write everywhere.
	if err := os.MkdirAll(filepath.Join(path+".new", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		log, logger := logged()
		b, _ := journal.Open(path, logger)
		for i := range 3 {
			b.Keep(restore.Record{ID: fmt.Sprintf("t%d", 10+i), Session: "default", URL: "https://a.example/"})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "cannot be written"); n != 1 {
			t.Errorf("it warned %d times: %s", n, log)
		}
		if kept := decoded(t, path); !reflect.DeepEqual(kept, tabs) {
			t.Errorf("the old file holds %+v", kept)
		}
		if err := os.RemoveAll(path + ".new"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(journal.Retry + time.Second)
		if kept := decoded(t, path); len(kept) != len(tabs)+3 {
			t.Errorf("when there is room again %d tabs are kept", len(kept))
		}
		b.Close()
	})
}

func decoded(t *testing.T, path string) []restore.Record {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := journal.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func TestTabThatCannotBeKeptIsNotInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabs")
	long := tabs[0]
	long.URL = "data:text/html," + strings.Repeat("x", journal.MaxURL)
	log := keep(t, path, tabs[0], tabs[1], long, long)
	if strings.Count(log, "is not in the journal") != 1 {
		t.Errorf("log %q", log)
	}
	if kept, _ := open(t, path); !reflect.DeepEqual(kept, tabs[1:]) {
		t.Errorf("kept %+v", kept)
	}
}

// FuzzDecodeBelievesNothing checks for any journal that reading it terminates and that the result can be stored again unchanged.
func FuzzDecodeBelievesNothing(f *testing.F) {
	path := filepath.Join(f.TempDir(), "tabs")
	_, logger := logged()
	b, _ := journal.Open(path, logger)
	for _, k := range tabs {
		b.Keep(k)
	}
	b.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := bytes.Cut(good, []byte("\n"))
	f.Add(body)
	f.Add([]byte(`{"tabs":[{"id":"t1","session":"default","url":"https://a.example/","viewport":[1e999,0],"scroll":[0,0],"refs":-1}]}`))
	f.Add([]byte(`{"tabs":[{"id":"t1","session":"d","url":"u","viewport":[0,0],"scroll":[0,0],"boxes":[{"path":[-1],"scroll":[0,0]}],"refs":0}]}`))
	f.Add([]byte(`{"tabs":null}{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		body = bytes.TrimSuffix(body, []byte("\n"))
		if _, err := journal.Decode(body); err == nil && !bytes.HasPrefix(body, []byte("domtap-tabs 1 ")) {
			t.Fatal("what has no title is believed")
		}
		kept, err := journal.Decode(journal.Sign(body)) // with the correct hash; otherwise the fuzzer would never get past the hash check
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, k := range kept {
			if k.ID == "" || k.URL == "" || len(k.URL) > journal.MaxURL || !k.Place.Valid() || seen[k.ID] || k.Refs == dom.NoRef {
				t.Fatalf("believed %+v", k)
			}
			seen[k.ID] = true
		}
		again, err := journal.Encode(kept)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := journal.Decode(again); err != nil || len(back) != len(kept) || len(kept) > 0 && !reflect.DeepEqual(back, kept) {
			t.Fatalf("kept %+v, got back %+v, %v", kept, back, err)
		}
	})
}
