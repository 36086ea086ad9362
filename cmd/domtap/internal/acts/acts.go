package acts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Act is one command.
type Act struct {
	// Name is the command, Rest what it takes behind the target, as its help shows it.
	Name, Rest           string
	Short, Long, Example string
	// args says for errors what Rest is, one entry an argument; with more the last one may come again and again.
	args []string
	more bool
	// without allows the command to name no target.
	without bool
	flags   func(*pflag.FlagSet, *options)
	step    func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error)
}

// options are the values of all flags but those of the target.
type options struct {
	button    string
	modifiers []string
	submit    bool
	repeat    int32
	by        string
	toAt      string
	paths     bool
}

// Text reads a text argument; the caller knows what - stands for.
type Text func(argument string) (string, error)

// Bind defines the flags of an act on a command, and how many arguments that takes. The function it returns makes the step
// from the arguments.
func (a *Act) Bind(cmd *cobra.Command, text Text) func(args []string) (*domtapv1.Step, error) {
	var t Target
	var o options
	t.register(cmd.Flags())
	if a.flags != nil {
		a.flags(cmd.Flags(), &o)
	}
	cmd.Use = strings.TrimSpace(a.Name + " " + a.use())
	cmd.Args = func(cmd *cobra.Command, args []string) error { return a.checkArgs(cmd, args, &t, &o) }
	return func(args []string) (*domtapv1.Step, error) {
		target, rest, err := a.target(args, &t)
		if err != nil {
			return nil, err
		}
		if a.takesText() {
			if rest[0], err = text(rest[0]); err != nil {
				return nil, err
			}
		}
		return a.step(target, rest, &o)
	}
}

// use is what the help shows behind the name.
func (a *Act) use() string {
	if a.without {
		return strings.TrimSpace(a.Rest + " [REF]")
	}
	return strings.TrimSpace("REF " + a.Rest)
}

func (a *Act) takesText() bool { return a.Rest == "TEXT" }

// checkArgs counts the arguments. A target that a flag names needs no ref.
func (a *Act) checkArgs(cmd *cobra.Command, args []string, t *Target, o *options) error {
	want := a.args
	if a.Name == "drag" && (o.by != "" || o.toAt != "") {
		want = nil
	}
	most := len(want)
	if !t.given() {
		if !a.without {
			want = append([]string{"the ref of an element"}, want...)
		}
		most++
	}
	if len(args) >= len(want) && (a.more || len(args) <= most) {
		return nil
	}
	needs := strings.Join(want, " and ")
	if needs == "" {
		needs = "no argument, for a flag names the element"
	}
	return fmt.Errorf("%s needs %s; it was given %s", cmd.CommandPath(), needs, counted(len(args)))
}

func counted(n int) string {
	switch n {
	case 0:
		return "nothing"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// target finds the target in the flags or the arguments, and returns the other arguments.
func (a *Act) target(args []string, t *Target) (*domtapv1.Target, []string, error) {
	if t.given() {
		target, err := t.target()
		return target, args, err
	}
	if a.without {
		if len(args) <= len(a.args) {
			return nil, args, nil
		}
		target, err := byRef(args[len(a.args)])
		return target, args[:len(a.args)], err
	}
	target, err := byRef(args[0])
	return target, args[1:], err
}

// Table holds every act, in the order of the help.
var Table = []Act{
	{
		Name: "click", Short: "Click an element, and print what that changed",
		Long: `Click the element with this ref, wait until the page has come to rest, and print what
changed. A ref is never given to another element: when the element is gone, the click is
refused (exit code 4) and hits nothing else. So it is when something covers the element, or it is
disabled, for longer than 2 seconds.`,
		Example: "  domtap compact | grep Pay\n  domtap click 12\n  domtap click 12 --button right --modifier Shift\n  domtap click --at 120,40",
		flags: func(f *pflag.FlagSet, o *options) {
			f.StringVar(&o.button, "button", "", "left (default), middle or right")
			f.StringArrayVar(&o.modifiers, "modifier", nil, "hold Alt, Control, Meta or Shift; may be repeated")
		},
		step: func(t *domtapv1.Target, _ []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Button: o.button, Modifiers: o.modifiers}}}, nil
		},
	},
	{
		Name: "dblclick", Short: "Double-click an element, and print what that changed",
		Long: "Click the element twice, as domtap click does it once.", Example: "  domtap dblclick 12",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: t}}}, nil
		},
	},
	{
		Name: "hover", Short: "Move the pointer over an element, and print what that changed",
		Long: "Move the pointer over the element, where it stays. Menus that open under the pointer do.", Example: "  domtap hover 3",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: t}}}, nil
		},
	},
	{
		Name: "type", Rest: "TEXT", args: []string{"a text"}, Short: "Type into an element, and print what that changed",
		Long: `Focus the element with this ref, type TEXT after what is there, key by key, and print what
changed. A line break in TEXT is the key Enter.

TEXT - reads the text from standard input, so that a password does not appear in the list of
processes. A TEXT that begins with a dash goes after two dashes: domtap type 7 -- -5`,
		Example: "  domtap type 7 \"a@b.example\" --submit\n  pass show shop | domtap type 8 -",
		flags:   func(f *pflag.FlagSet, o *options) { f.BoolVar(&o.submit, "submit", false, "press Enter afterwards") },
		step: func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: t, Text: args[0], Submit: o.submit}}}, nil
		},
	},
	{
		Name: "fill", Rest: "TEXT", args: []string{"a text"}, Short: "Replace what an element holds, and print what that changed",
		Long: `Replace the text or value of a field or an editor by TEXT. Dates and times are written as HTML
does (2026-11-21, 09:30), a range takes a number, a colour #1a2b3c. An empty TEXT empties the
field. TEXT - reads standard input.`,
		Example: "  domtap fill 7 \"Ada Lovelace\"\n  domtap fill 9 2026-11-21",
		step: func(t *domtapv1.Target, args []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: t, Text: args[0]}}}, nil
		},
	},
	{
		Name: "press", Rest: "KEY", args: []string{"a key"}, without: true, Short: "Press a key, and print what that changed",
		Long: `Press a key where the focus is, or on the element with this ref. A key is a character, or a
name such as Enter, Tab, Escape, ArrowDown, PageUp, F5, Numpad7; modifiers go before it.`,
		Example: "  domtap press Escape\n  domtap press Control+a 7\n  domtap press ArrowDown --repeat 3",
		flags: func(f *pflag.FlagSet, o *options) {
			f.Int32Var(&o.repeat, "repeat", 0, "press it 1 to 100 times (default: once)")
		},
		step: func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: t, Key: args[0], Repeat: o.repeat}}}, nil
		},
	},
	{
		Name: "select", Rest: "OPTION...", args: []string{"the value or label of an option"}, more: true, Short: "Select options, and print what that changed",
		Long:    "Select the options with these values or labels, and no others. A list of the page's own making is clicked instead.",
		Example: "  domtap select 5 Germany\n  domtap select 6 red blue",
		step: func(t *domtapv1.Target, args []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: t, Values: args}}}, nil
		},
	},
	{
		Name: "check", Short: "Check a checkbox, radio button or switch",
		Long: "Make the element checked. One that is checked already is left alone.", Example: "  domtap check 9",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: t}}}, nil
		},
	},
	{
		Name: "uncheck", Short: "Uncheck a checkbox or switch",
		Long: "Make the element unchecked. One that is unchecked already is left alone.", Example: "  domtap uncheck 9",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: t}}}, nil
		},
	},
	{
		Name: "scroll", without: true, Short: "Scroll an element into view, or by a distance",
		Long: `Scroll the element with this ref into view. With --by turn the mouse wheel over it, or over the
middle of the page when no element is named.`,
		Example: "  domtap scroll 40\n  domtap scroll --by 0,600\n  domtap scroll 12 --by 0,-200",
		flags:   func(f *pflag.FlagSet, o *options) { f.StringVar(&o.by, "by", "", "scroll by X,Y, in CSS pixels") },
		step:    scrollStep,
	},
	{
		Name: "drag", Rest: "TO", args: []string{"the ref to drag it to"}, Short: "Drag an element to another, or by a distance",
		Long: `Drag the element to the one with the ref TO, or by a distance: with the data that the page
gives along, where it does so, else with the pointer alone.`,
		Example: "  domtap drag 4 9\n  domtap drag 7 --by 120,0\n  domtap drag 7 --to-at 300,200",
		flags: func(f *pflag.FlagSet, o *options) {
			f.StringVar(&o.by, "by", "", "drag it by X,Y, in CSS pixels")
			f.StringVar(&o.toAt, "to-at", "", "drag it to the point X,Y of the viewport")
		},
		step: dragStep,
	},
	{
		Name: "upload", Rest: "FILE...", args: []string{"a file"}, more: true, Short: "Give files to a file input, or to what opens a file chooser",
		Long: `Give files of this machine to a file input, its label, or a button that opens a file chooser. Up
to 4 MiB in all they travel with the request; larger ones are given by path, which the daemon
must be allowed with --upload-dir.`,
		Example: "  domtap upload 7 photo.png\n  domtap upload 7 --by-path /srv/files/video.mp4",
		flags: func(f *pflag.FlagSet, o *options) {
			f.BoolVar(&o.paths, "by-path", false, "give the paths, for files on the daemon's machine")
		},
		step: uploadStep,
	},
}

func scrollStep(t *domtapv1.Target, _ []string, o *options) (*domtapv1.Step, error) {
	s := &domtapv1.ScrollStep{Target: t}
	var err error
	if o.by != "" {
		s.DeltaX, s.DeltaY, err = pair("by", o.by)
	} else if t == nil {
		err = exit.Errorf(exit.Usage, "domtap scroll 12, or domtap scroll --by 0,600", "scroll needs the ref of an element, or --by")
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: s}}, err
}

func dragStep(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
	s := &domtapv1.DragStep{Target: t}
	var err error
	switch {
	case o.by != "" && o.toAt != "":
		err = exit.Errorf(exit.Usage, "give one of them", "--by and --to-at exclude each other")
	case o.by != "":
		s.DeltaX, s.DeltaY, err = pair("by", o.by)
	case o.toAt != "":
		s.To = new(domtapv1.Target)
		var x, y float64
		x, y, err = pair("to-at", o.toAt)
		s.To.X, s.To.Y = &x, &y
	default:
		s.To, err = byRef(args[0])
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: s}}, err
}

// maxInline is how many bytes may travel with a request.
const maxInline = 4 << 20

func uploadStep(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
	s := &domtapv1.UploadStep{Target: t}
	var size int64
	for _, name := range args {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, exit.Errorf(exit.Failure, "", "find the working directory: %w", err)
		}
		s.Paths = append(s.Paths, path)
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	if !o.paths && size <= maxInline {
		s.Paths = nil
		for _, name := range args {
			content, err := os.ReadFile(name)
			if err != nil {
				return nil, exit.Errorf(exit.Usage, "check the name of the file; one on the daemon's machine goes with --by-path", "read the file to upload: %w", err)
			}
			s.Files = append(s.Files, &domtapv1.UploadFile{Name: filepath.Base(name), Content: content})
		}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: s}}, nil
}
