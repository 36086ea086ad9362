package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
)

// The linker sets these variables: -ldflags "-X main.version=v1.2.3 -X main.commit=0123456789ab -X main.date=2026-01-02T15:04:05Z".
var version, commit, date string

// programVersion returns the version that the linker set, or the version that the Go toolchain recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel" + revision(info)
	}
	return info.Main.Version
}

// revision returns the commit of the build after a plus sign, or an empty string if it was not recorded.
func revision(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return "+" + setting.Value[:12]
		}
	}
	return ""
}

// build is the JSON output of domtap version.
type build struct {
	Version string `json:"version"`
	// Commit and Date are set in releases to the commit and time of the build.
	Commit string `json:"commit,omitempty"`
	Date   string `json:"date,omitempty"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
}

func versionCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cli.Args(),
	}
	a.Flags.RegisterOutput(cmd)
	cmd.RunE = cli.Work(func(*cobra.Command, []string) error {
		b := build{Version: programVersion(), Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
		text := fmt.Sprintf("domtap %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
		if b.Commit != "" {
			text += fmt.Sprintf("commit %s of %s\n", b.Commit, b.Date)
		}
		return a.Printer().ShowValue(b, text)
	})
	return cmd
}
