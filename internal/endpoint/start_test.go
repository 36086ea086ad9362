package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheLastComplaintOfALogIsReported(t *testing.T) {
	for log, want := range map[string]string{
		"":                           "the daemon logged nothing",
		"domtap: old\n":              "the daemon logged nothing",
		"OLDLINES\nlevel=INFO a\n\n": "level=INFO a",
		"OLDLINES\nlevel=INFO a\ndomtap: the browser is gone\nhint: x\n":                                                       "the browser is gone",
		"OLDLINES\ndomtap: start it: set --chrome-flag of domtap serve, or leave out --url-policy: \"it said --no-sandbox\"\n": "start it: set DOMTAP_CHROME_FLAG, or leave out DOMTAP_URL_POLICY: \"it said --no-sandbox\"",
	} {
		from := int64(len("OLDLINES\n"))
		if !strings.HasPrefix(log, "OLDLINES") {
			from = int64(len(log))
		}
		if got := lastError(strings.NewReader(log), from); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}

func TestALongLogIsSetAside(t *testing.T) {
	dir := t.TempDir()
	at := Places{State: dir, Socket: filepath.Join(dir, "s")}
	if err := os.WriteFile(at.Log(), make([]byte, largestLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := openLog(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if info, err := log.Stat(); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the new log: %+v, %v", info, err)
	}
	if info, err := os.Stat(at.Log() + ".old"); err != nil || info.Size() != largestLog+1 {
		t.Errorf("the old log: %v", err)
	}
}

func TestADaemonIsToldWhereItsPlacesAre(t *testing.T) {
	args, err := ServeArgs(Places{State: "/state", Socket: "/state/s", Token: "/state/t"})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(args, " ")
	for _, part := range []string{"serve --on-demand", "--state-dir /state", "--socket /state/s", "--token-file /state/t"} {
		if !strings.Contains(line, part) {
			t.Errorf("%q lacks %q", line, part)
		}
	}
}
