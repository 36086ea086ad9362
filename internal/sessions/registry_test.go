package sessions

import (
	"errors"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
)

func TestTheRegistryGivesIds(t *testing.T) {
	r := registry{max: 5, quota: func(string) (string, int) { return "", 0 }, elsewhere: func(string) int { return 0 }}
	add := func(id, want string) {
		t.Helper()
		one, err := r.add(id)
		if err != nil || one.id != want {
			t.Fatalf("add(%q) is %v, %v; want %s", id, one, err, want)
		}
	}
	refused := func(id string, kind apierr.ErrorKind) {
		t.Helper()
		var e *apierr.Error
		if _, err := r.add(id); !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("add(%q): error is %v, want kind %d", id, err, kind)
		}
	}
	add("s1", "s1")
	add("", "s2")
	refused("s1", apierr.Exists)
	refused("s2", apierr.Exists) // the id that was generated last is in use like any other
	if _, err := r.find("s2"); err == nil {
		t.Error("a session that is not ready is found")
	}
	r.all[1].ready = true
	if one, err := r.find("s2"); err != nil || one.used.IsZero() || len(r.ready()) != 1 {
		t.Errorf("found %v, %v", one, err)
	}
	r.remove(r.all[1])
	add("", "s3")
	add("work", "work")
	add("", "s4")
	add("s2", "s2")
	refused("", apierr.Exhausted)
}

func TestTheRegistryKeepsClientsToTheirQuota(t *testing.T) {
	elsewhere := map[string]int{"cleo": 1}
	r := registry{max: 10, elsewhere: func(client string) int { return elsewhere[client] }, quota: func(id string) (string, int) {
		client, _, _ := strings.Cut(id, ".")
		return client, 2
	}}
	for _, id := range []string{"ann.1", "ann.2", "bob.1"} {
		if _, err := r.add(id); err != nil {
			t.Fatal(err)
		}
	}
	var e *apierr.Error
	if _, err := r.add("ann.3"); !errors.As(err, &e) || e.Kind != apierr.Exhausted || e.Client != "ann" {
		t.Errorf("error is %v", err)
	}
	if _, err := r.add("bob.2"); err != nil {
		t.Error(err)
	}
	if _, err := r.add("cleo.1"); err != nil {
		t.Error(err)
	}
	if _, err := r.add("cleo.2"); !apierr.Is(err, apierr.Exhausted) {
		t.Errorf("what a client has elsewhere does not count: %v", err)
	}
}
