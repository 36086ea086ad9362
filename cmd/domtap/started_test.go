package main

import (
	"os/exec"
	"testing"

	domtap "github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Package client starts a daemon on request, and the next program finds it.
func TestTheClientPackageStartsADaemon(t *testing.T) {
	path := needProgram(t)
	state := shortDir(t)
	t.Cleanup(func() {
		stop := exec.Command(path, "stop")
		stop.Env = ownEnv(state)
		if text, err := stop.CombinedOutput(); err != nil {
			t.Errorf("domtap stop: %v: %s", err, text)
		}
	})
	first, err := domtap.Connect(t.Context(), domtap.Options{StateDir: state, Start: true, Program: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	tab, err := first.Open(t.Context(), "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	second, err := domtap.Connect(t.Context(), domtap.Options{StateDir: state, Start: true, Program: "/nowhere/domtap"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	answer, err := second.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(answer.GetTabs()) != 1 || answer.GetTabs()[0].GetId() != tab.ID() {
		t.Errorf("the second client sees %v, %v", answer, err)
	}
}
