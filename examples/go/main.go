// This program opens a page in domtap, reads it, clicks a button, and follows later changes. README.md describes how to run it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func main() {
	log.SetFlags(0)
	var o client.Options
	flag.StringVar(&o.Address, "addr", "", "unix:///PATH or HOST:PORT; without it, a daemon is started where none runs")
	flag.StringVar(&o.Token, "token", os.Getenv("DOMTAP_TOKEN"), "the bearer token, for HOST:PORT")
	file := flag.String("state", "", "keep the state in this file, and go on from it")
	click := flag.String("click", "", "the name of a button to click")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: follow [--addr ADDRESS] [--token TOKEN] [--state FILE] [--click BUTTON] URL")
	}
	o.Start = o.Address == ""
	err := run(context.Background(), o, *file, flag.Arg(0), *click)
	if errors.Is(err, client.ErrTabGone) {
		err = fmt.Errorf("%w (delete the state file to begin anew)", err)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o client.Options, file, url, click string) error {
	c, err := client.Connect(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	state, err := load(file)
	if err != nil {
		return err
	}
	tab, from := c.Tab(state.GetTabId()), fmt.Sprintf("revision %d", state.GetRevision())
	if state == nil {
		from = "the beginning"
		if tab, err = begin(ctx, c, url, click); err != nil {
			return err
		}
	}
	fmt.Printf("following: %s from %s\n", tab.ID(), from)
	for update, err := range tab.Follow(ctx, client.FollowOptions{From: state, Lost: sayLost}) {
		if err != nil {
			return err
		}
		fmt.Println(describe(update)) // the program's own work comes first, then the state is saved, so that no update is missed
		if err := save(file, update.State); err != nil {
			return err
		}
	}
	fmt.Println("closed")
	return nil
}

// begin opens a page, reads it and acts on it.
func begin(ctx context.Context, c *client.Client, url, click string) (*client.Tab, error) {
	tab, err := c.OpenWith(ctx, &domtapv1.OpenTabRequest{Url: url, Restore: true}) // the tab survives a crash of the daemon
	if err != nil {
		return nil, err
	}
	fmt.Printf("opened: %s %s\n", tab.ID(), url)

	text, err := tab.Read(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Println(strings.TrimSpace(text))

	if click != "" {
		did, err := tab.Act(ctx, client.Click(client.Named("button", click)))
		if err != nil {
			return nil, err
		}
		fmt.Printf("acted: %s %s, %s\n", did.GetResults()[0].GetSummary(), did.GetVerdict(), counts(did.GetDiff()))
	}
	return tab, nil
}

func counts(d *domtapv1.Diff) string {
	return fmt.Sprintf("+%d -%d ~%d", d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount())
}

// describe describes an update in one line.
func describe(u *client.Update) string {
	now := fmt.Sprintf("revision %d, %d elements", u.State.GetRevision(), len(u.State.GetElements()))
	switch e := u.Message.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		return "snapshot: " + now
	case *domtapv1.WatchDomResponse_Diff:
		return fmt.Sprintf("diff: %d -> %s, %s", e.Diff.GetFromRevision(), now, counts(e.Diff))
	case *domtapv1.WatchDomResponse_Resync:
		return fmt.Sprintf("resync: %s, because %s", now, e.Resync.GetReason())
	case *domtapv1.WatchDomResponse_Navigated:
		return "navigated: " + e.Navigated.GetUrl()
	case *domtapv1.WatchDomResponse_TabStatus:
		return "status: " + e.TabStatus.GetStatus().String()
	}
	return "heartbeat: " + now
}

func sayLost(cause error, wait time.Duration) {
	fmt.Printf("lost: %s; again in %.2f s\n", status.Convert(cause).Message(), wait.Seconds())
}

// load reads the saved state. It returns nil if there is none.
func load(file string) (*domtapv1.GetDomResponse, error) {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := new(domtapv1.GetDomResponse)
	return state, protojson.Unmarshal(text, state)
}

// save replaces the state atomically: if this process is killed, the file contains the old or the new state.
func save(file string, state *domtapv1.GetDomResponse) error {
	if file == "" {
		return nil
	}
	text, err := protojson.Marshal(state)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
