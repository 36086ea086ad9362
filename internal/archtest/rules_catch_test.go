package archtest

import (
	"strings"
	"testing"
)

// TestRulesCatch checks for each rule that a violation is reported, and that code that barely complies is not.
func TestRulesCatch(t *testing.T) {
	tests := []struct {
		name string
		file string
		src  string
		// want is part of the message. If empty, no violation is expected.
		want string
	}{
		{"dom imports std", "dom/a.go", `package dom; import "net/url"`, ""},
		{"dom imports a module", "dom/a.go", `package dom; import "golang.org/x/text/width"`, "imports no other modules"},
		{"dom imports a layer", "dom/a.go", `package dom; import "github.com/domtap/domtap/diff"`, "may not import diff"},
		{"diff imports dom", "diff/a.go", `package diff; import "github.com/domtap/domtap/dom"`, ""},
		{"diff imports view", "diff/a.go", `package diff; import "github.com/domtap/domtap/view"`, "may not import view"},
		{"diff reads the clock", "diff/a.go", `package diff; import "time"`, "is pure"},
		{"diff starts a goroutine", "diff/a.go", `package diff; func f() { go f() }`, "starts no goroutine"},
		{"actor starts a goroutine", "actor/a.go", `package actor; func f() { go f() }`, ""},
		{"view imports compact", "view/a.go", `package view; import "github.com/domtap/domtap/compact"`, "may not import compact"},
		{"compact parses a URL", "compact/a.go", `package compact; import "net/url"`, ""},
		{"compact imports view", "compact/a.go", `package compact; import "github.com/domtap/domtap/view"`, ""},
		{"actor imports chromedp", "actor/a.go", `package actor; import "github.com/chromedp/chromedp"`, "interfaces of actor/driver"},
		{"actor imports grpc", "actor/a.go", `package actor; import "google.golang.org/grpc/codes"`, "let internal/server convert"},
		{"actor imports gen", "actor/a.go", `package actor; import "github.com/domtap/domtap/gen/domtap/v1"`, "let internal/server convert"},
		{"actor imports browser", "actor/a.go", `package actor; import "github.com/domtap/domtap/internal/browser"`, "may not import internal/browser"},
		{"actor imports its pool", "actor/turn/a.go", `package turn; import "github.com/domtap/domtap/actor/tabpool"`, "may not import actor/tabpool"},
		{"actor's test imports browser", "actor/a_test.go", `package actor; import "github.com/domtap/domtap/internal/browser"`, ""},
		{"browser imports cdproto", "internal/browser/a.go", `package browser; import "github.com/chromedp/cdproto/dom"`, ""},
		{"browser imports its page", "internal/browser/a.go", `package browser; import "github.com/domtap/domtap/internal/browser/observer"`, ""},
		{"browser imports rpc", "internal/browser/a.go", `package browser; import "github.com/domtap/domtap/internal/server"`, "may not import internal/server"},
		{"page imports browser", "internal/browser/observer/a.go", `package page; import "github.com/domtap/domtap/internal/browser"`, "may not import internal/browser"},
		{"server imports gen", "internal/server/a.go", `package server; import "github.com/domtap/domtap/gen/domtap/v1"`, ""},
		{"server imports browser", "internal/server/a.go", `package server; import "github.com/domtap/domtap/internal/browser"`, "may not import internal/browser"},
		{"web imports grpc", "internal/gateway/a.go", `package web; import "google.golang.org/grpc"`, ""},
		{"web imports rpc", "internal/gateway/a.go", `package web; import "github.com/domtap/domtap/internal/server"`, "may not import internal/server"},
		{"server imports connect", "internal/server/a.go", `package server; import "connectrpc.com/connect"`, "only internal/gateway may"},
		{"the page imports a module", "internal/gateway/ui/a.go", `package ui; import "golang.org/x/net/html"`, "imports no other modules"},
		{"mcp imports gen", "internal/mcp/a.go", `package mcp; import "github.com/domtap/domtap/gen/domtap/v1"`, ""},
		{"mcp imports its SDK", "internal/mcp/a.go", `package mcp; import "github.com/modelcontextprotocol/go-sdk/mcp"`, ""},
		{"mcp imports actor", "internal/mcp/tools/a.go", `package tools; import "github.com/domtap/domtap/actor"`, "may not import actor"},
		{"mcp imports browser", "internal/mcp/a.go", `package mcp; import "github.com/domtap/domtap/internal/browser"`, "may not import internal/browser"},
		{"server imports the MCP SDK", "internal/server/a.go", `package server; import "github.com/modelcontextprotocol/go-sdk/mcp"`, "let mcp speak the protocol"},
		{"cmd imports anything", "cmd/domtap/a.go", `package main; import "github.com/domtap/domtap/internal/browser"`, ""},
		{"cmd imports cdproto", "cmd/domtap/a.go", `package main; import "github.com/chromedp/cdproto"`, "implement it in internal/browser"},
		{"a path that only looks kept", "internal/server/a.go", `package server; import "github.com/chromedpx/y"`, ""},
		{"cmd exits", "cmd/domtap/a.go", "package main; import x \"os\"; var _ = x.Exit", ""},
		{"server exits", "internal/server/a.go", "package server; import \"os\"; func f() { os.Exit(1) }", "choose the exit code"},
		{"server exits under another name", "internal/server/a.go", "package server; import x \"os\"; func f() { x.Exit(1) }", "os.Exit"},
		{"server exits by log", "internal/server/a.go", "package server; import \"log\"; func f() { log.Fatalf(\"\") }", "log.Fatalf"},
		{"browser makes a context", "internal/browser/a.go", "package browser; import \"context\"; var _ = context.Background()", "caller's context"},
		{"the pool makes a context that outlives calls", "actor/tabpool/a.go", "package tabpool; import \"context\"; var _ = context.Background()", ""},
		{"actor means to have a context", "actor/a.go", "package actor; import \"context\"; var _ = context.TODO()", "caller's context"},
		{"actor derives a context", "actor/a.go", "package actor; import \"context\"; var _ = context.WithoutCancel", ""},
		{"view compiles an expression", "view/a.go", "package view; import \"regexp\"; var _ = regexp.MustCompile(\"a\")", "use lazyregexp.New"},
		{"a test compiles an expression", "view/a_test.go", "package view; import \"regexp\"; var _ = regexp.MustCompile(\"a\")", ""},
		{"a method called Exit", "actor/a.go", "package actor; var os struct{ Exit func() }; func f() { os.Exit() }", ""},
		{"a test makes a context", "actor/a_test.go", "package actor; import \"context\"; var _ = context.Background()", ""},
		{"a directory named util", "dom/util/a.go", "package a", "name it after what it does"},
		{"a file named utils", "dom/string_utils_test.go", "package dom", "name it after what it does"},
		{"a package named util", "dom/a.go", "package domutil", "name it after what it does"},
		{"an unknown layer", "helpers/a.go", "package helpers", "add a row to layers"},
		{"the root is not a layer", "a.go", "package domtap", "add a row to layers"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			violations, err := check(test.file, []byte(test.src))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(violations, "\n")
			if test.want == "" && got != "" {
				t.Errorf("got a violation: %s", got)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want a violation that says %q", got, test.want)
			}
			if len(violations) > 1 {
				t.Errorf("got %d violations for one fault: %s", len(violations), got)
			}
		})
	}
}
