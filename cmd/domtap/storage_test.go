package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/sessionflags"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestCookiesAndStorageArePrinted(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	stored := []*domtapv1.StoredCookie{
		{Cookie: &domtapv1.Cookie{Name: "id\x1b[31m", Domain: ".a.test", Path: "/", Expires: -1, Secure: true, HttpOnly: true, SameSite: "Lax"}, ValueBytes: 6},
		{Cookie: &domtapv1.Cookie{Name: "old", Domain: "b.test", Path: "/x", Expires: 2e9, PartitionKey: proto.String("https://c.test"), Priority: proto.String("Low")}, ValueBytes: 3},
	}
	entries := []*domtapv1.StoredOrigin{{Origin: "https://a.test", Entries: []*domtapv1.StoredEntry{{Name: "theme", ValueBytes: 4}}}}
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		switch r := r.(type) {
		case *domtapv1.ListCookiesRequest:
			if r.GetFilter().GetName() == "id" {
				return &domtapv1.ListCookiesResponse{Cookies: []*domtapv1.StoredCookie{{Cookie: &domtapv1.Cookie{Name: "id", Value: "secret"}}}}, nil
			}
			return &domtapv1.ListCookiesResponse{Cookies: stored}, nil
		case *domtapv1.DeleteCookiesRequest:
			return &domtapv1.DeleteCookiesResponse{Deleted: 2}, nil
		case *domtapv1.GetLocalStorageRequest:
			if r.GetName() == "none" {
				return &domtapv1.GetLocalStorageResponse{}, nil
			}
			if r.GetValues() {
				entries[0].Entries[0].Value = proto.String("dark")
			}
			return &domtapv1.GetLocalStorageResponse{Origins: entries}, nil
		}
		return nil, nil
	}
	for line, want := range map[string]string{
		"cookies list": "COOKIE   VALUE    DOMAIN   PATH  EXPIRES           FLAGS\n" +
			"id\uFFFD[31m  6 bytes  .a.test  /     session           secure http-only same-site=Lax\n" +
			"old      3 bytes  b.test   /x    2033-05-18 03:33  priority=Low partition=https://c.test\n",
		"cookies get id":     "secret\n",
		"cookies delete old": "deleted: 2\n",
		"storage list":       "https://a.test\nENTRY  VALUE\ntheme  4 bytes\n",
		"storage get theme --origin https://a.test": "dark\n",
	} {
		if got := daemon.at().run(t, strings.Fields(line)...); got.code != exit.OK || got.out != want {
			t.Errorf("%s: %d\n%s%s\nwant\n%s", line, got.code, got.out, got.errors, want)
		}
		entries[0].Entries[0].Value = nil
	}
	for line, want := range map[string]struct {
		code int
		say  string
	}{
		"cookies get old":                           {exit.Usage, `2 cookies are named "old"`},
		"cookies set a b":                           {exit.Usage, "missing --domain or --url"},
		"cookies set a b --url a.test":              {exit.Usage, "invalid --url"},
		"cookies set a b --domain a --expires soon": {exit.Usage, "invalid --expires"},
		"storage set a b":                           {exit.Usage, "missing --origin"},
		"storage get none":                          {exit.NotFound, `no entry is named "none"`},
		"storage list --area disk":                  {exit.Usage, "must be one of local, session"},
	} {
		if got := daemon.at().run(t, strings.Fields(line)...); got.code != want.code || !strings.Contains(got.errors, want.say) {
			t.Errorf("%s: %+v, want %d and %q", line, got, want.code, want.say)
		}
	}
	cmd := daemon.at()
	cmd.in = "from a pipe\n"
	if got := cmd.run(t, "cookies", "set", "a", "-", "--domain", "a.test"); got.code != exit.OK || daemon.last(t).(*domtapv1.SetCookiesRequest).GetCookies()[0].GetValue() != "from a pipe" {
		t.Errorf("%+v: %v", got, daemon.last(t))
	}
}

// A state with databases is written to a file and read back, in Playwright's format.
func TestStatesWithDatabasesInFiles(t *testing.T) {
	state := &domtapv1.StorageState{
		Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: "c", PartitionKey: proto.String("https://d.test"), HasCrossSiteAncestor: proto.Bool(true)}},
		Origins: []*domtapv1.OriginStorage{{Origin: "https://plain.test"}, {Origin: "https://a.test", IndexedDb: []*domtapv1.IndexedDatabase{{Name: "d", Version: 3, Stores: []*domtapv1.ObjectStore{
			{Name: "s", KeyPath: proto.String(""), AutoIncrement: true, Indexes: []*domtapv1.StoreIndex{{Name: "i", KeyPathArray: []string{"a", "b"}, Unique: true}},
				Records: []*domtapv1.StoreRecord{{Value: proto.String(`{"z":1,"a":"<☾>"}`)}}},
			{Name: "u", Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), ValueEncoded: proto.String(`{"v":"NaN"}`)}}},
		}}}}},
	}
	daemon := newFakeDaemon(t).start(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if r, ok := r.(*domtapv1.GetStorageStateRequest); ok && r.GetIndexedDb() {
			return &domtapv1.GetStorageStateResponse{State: state, Omissions: []*domtapv1.StorageOmission{{Origin: "https://a.test", Database: "d", Store: "s", Reason: "a Blob", Records: 2}}}, nil
		}
		return nil, nil
	}
	file := filepath.Join(t.TempDir(), "state.json")
	got := daemon.at().run(t, "session", "save", "work", file, "--indexed-db")
	if got.code != exit.OK || !strings.Contains(got.errors, `not saved: 2 records of store "s" in database "d" of https://a.test: a Blob`) {
		t.Errorf("%+v", got)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	compact := strings.Join(strings.Fields(string(raw)), "")
	for _, want := range []string{`"_crHasCrossSiteAncestor":true`, `"partitionKey":"https://d.test"`, `"version":3`, `"keyPath":"","autoIncrement":true`, `"keyPathArray":["a","b"]`, `"valueEncoded":{"v":"NaN"}`, `"value":{"z":1,"a":`} {
		if !strings.Contains(compact, want) {
			t.Errorf("the file has no %s:\n%s", want, raw)
		}
	}
	if strings.Count(compact, "indexedDB") != 1 || strings.Contains(compact, `"keyPathArray":[]`) {
		t.Errorf("the file has empty lists that Playwright would use:\n%s", raw)
	}
	if got := daemon.at().run(t, "session", "load", "work", file); got.code != exit.OK {
		t.Errorf("%+v", got)
	}
	if back := daemon.last(t).(*domtapv1.SetStorageStateRequest).GetState(); !proto.Equal(unescaped(back), state) {
		t.Errorf("the state came back as\n%v, want\n%v", back, state)
	}
	for _, bad := range []string{`{"origins":[{"indexedDB":{}}]}`, `{"origins":{}}`, `[]`, `{"origins":[{"indexedDB":[{"stores":[{"records":[{"value":]}]}]}]}`} {
		if _, err := sessionflags.DecodeState([]byte(bad)); err == nil || !strings.Contains(err.Error(), "not a storage state") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// unescaped replaces the HTML escapes in JSON strings by the characters that they stand for.
func unescaped(s *domtapv1.StorageState) *domtapv1.StorageState {
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">")
	for _, o := range s.GetOrigins() {
		for _, d := range o.GetIndexedDb() {
			for _, store := range d.GetStores() {
				for _, r := range store.GetRecords() {
					if r.Value != nil {
						r.Value = proto.String(plain.Replace(r.GetValue()))
					}
				}
			}
		}
	}
	return s
}
