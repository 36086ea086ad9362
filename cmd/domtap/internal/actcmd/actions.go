package actcmd

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// actions lists all actions, in the order of the help.
var actions = []action{
	{
		name: "click", short: "Click an element and print what changed",
		long: `Click the element with this ref or this text, wait for the page to settle, and print what changed.

A ref is never reused for another element. If the element is gone, the click fails with exit code 4
and clicks nothing else. The click also fails if the element stays covered or disabled for more than
2 seconds, or if several elements have the text.`,
		example: "  domtap click Pay\n  domtap click button Pay --within \"Order 12\"\n  domtap click 12\n  domtap click 12 --button right --modifier Shift\n  domtap click 12 --hold 800ms\n  domtap click --at 120,40",
		flags: func(f *pflag.FlagSet, o *options) {
			f.StringVar(&o.button, "button", "", "left, middle or right (default left)")
			f.Int32Var(&o.count, "count", 0, "number of clicks, 1 to 3; 3 selects a paragraph (default 1)")
			f.DurationVar(&o.hold, "hold", 0, "hold the button for this long before releasing it, at most 10s")
			f.StringArrayVar(&o.modifiers, "modifier", nil, "hold Alt, Control, Meta or Shift; may be repeated")
			cli.MarkRare(f, "modifier")
		},
		step: func(t *domtapv1.Target, _ []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Button: o.button, Modifiers: o.modifiers, Count: o.count, Hold: holding(o.hold)}}}, nil
		},
	},
	{
		name: "dblclick", short: "Double-click an element and print what changed",
		long: "Double-click the element, with the same checks as domtap click.", example: "  domtap dblclick 12",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: t}}}, nil
		},
	},
	{
		name: "hover", short: "Move the pointer over an element and print what changed",
		long: "Move the pointer over the element and leave it there. Menus that open on hover stay open.", example: "  domtap hover 3",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: t}}}, nil
		},
	},
	{
		name: "type", field: true, args: []string{"TEXT"}, focused: true, short: "Type into an element and print what changed",
		long: `Focus the element with this ref, type TEXT key by key after its current text, and print what changed.
A line break in TEXT presses Enter. Without REF, a TEXT that does not look like a ref goes to the
focused element, or to the document if it listens for keys. With --focused, any TEXT does.

TEXT - reads standard input, which keeps a password out of the list of processes. Put a TEXT that
begins with a dash after two dashes: domtap type 7 -- -5`,
		example: "  domtap type 7 \"a@b.example\" --submit\n  domtap type --focused 42\n  pass show shop | domtap type 8 -",
		flags: func(f *pflag.FlagSet, o *options) {
			f.BoolVar(&o.submit, "submit", false, "press Enter afterwards")
			f.BoolVar(&o.focused, "focused", false, "type into the focused element or the document, without REF")
		},
		step: func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: t, Text: args[0], Submit: o.submit}}}, nil
		},
	},
	{
		name: "fill", field: true, args: []string{"TEXT"}, short: "Replace the value of an element and print what changed",
		long: `Replace the text or value of a field or an editor with TEXT. Write dates and times as in HTML
(2026-11-21, 09:30), a range as a number, and a color as #1a2b3c. An empty TEXT clears the field.
TEXT - reads standard input.`,
		example: "  domtap fill Name \"Ada Lovelace\"\n  domtap fill 9 2026-11-21",
		step: func(t *domtapv1.Target, args []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: t, Text: args[0]}}}, nil
		},
	},
	{
		name: "press", args: []string{"KEY"}, optionalTarget: true, short: "Press a key and print what changed",
		long: `Press a key in the element with this ref. Without REF, press it in the focused element or the document.
A key is a character or a name such as Enter, Tab, Escape, ArrowDown, PageUp, F5 or Numpad7, with
modifiers before it.`,
		example: "  domtap press Escape\n  domtap press Control+a 7\n  domtap press ArrowDown --repeat 3\n  domtap press ArrowRight --hold 500ms",
		flags: func(f *pflag.FlagSet, o *options) {
			f.Int32Var(&o.repeat, "repeat", 0, "press the key this many times, 1 to 100 (default 1)")
			f.DurationVar(&o.hold, "hold", 0, "hold the key for this long, at most 10s; a held key repeats")
		},
		step: func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: t, Key: args[0], Repeat: o.repeat, Hold: holding(o.hold)}}}, nil
		},
	},
	{
		name: "select", field: true, args: []string{"OPTION…"}, short: "Select options and print what changed",
		long:    "Select the options with these values or labels, and deselect all others. In a custom list, the options are clicked.",
		example: "  domtap select 5 Germany\n  domtap select 6 red blue",
		step: func(t *domtapv1.Target, args []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: t, Values: args}}}, nil
		},
	},
	{
		name: "check", field: true, short: "Check a checkbox, radio button or switch",
		long: "Check the element. An element that is already checked stays checked.", example: "  domtap check 9",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: t}}}, nil
		},
	},
	{
		name: "uncheck", field: true, short: "Uncheck a checkbox or switch",
		long: "Uncheck the element. An element that is already unchecked stays unchecked.", example: "  domtap uncheck 9",
		step: func(t *domtapv1.Target, _ []string, _ *options) (*domtapv1.Step, error) {
			return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: t}}}, nil
		},
	},
	{
		name: "scroll", optionalTarget: true, short: "Scroll an element into view, or by a distance",
		long: `Scroll the element with this ref into view. With --by, turn the mouse wheel over the element, or
without REF over the middle of the page. The words down, up, top and bottom scroll the page.`,
		example: "  domtap scroll 40\n  domtap scroll bottom\n  domtap scroll --by 0,600\n  domtap scroll 12 --by 0,-200\n  domtap scroll 12 --to end",
		flags: func(f *pflag.FlagSet, o *options) {
			f.StringVar(&o.by, "by", "", "scroll by X,Y, in CSS pixels")
			f.StringArrayVar(&o.modifiers, "modifier", nil, "hold Alt, Control, Meta or Shift while the wheel turns; may be repeated")
			f.StringVar(&o.to, "to", "", "scroll to the start or the end of the scrollable area, by at most 100,000 pixels: start or end")
		},
		step: scrollStep,
	},
	{
		name: "drag", args: []string{"TO"}, short: "Drag an element to another element or by a distance",
		long: `Drag the element to the element with the ref TO, or by a distance. If the page starts an HTML drag, its
data is dropped. Otherwise only the pointer moves. With --waypoint, the pointer passes other elements
or points on its way, in the order of the flags.`,
		example: "  domtap drag 4 9\n  domtap drag 7 --by 120,0\n  domtap drag 7 --to-at 300,200\n  domtap drag 4 9 --waypoint 6 --waypoint 300,200",
		flags: func(f *pflag.FlagSet, o *options) {
			f.StringVar(&o.by, "by", "", "drag the element by X,Y, in CSS pixels")
			f.DurationVar(&o.hold, "hold", 0, "hold the element for this long before moving it, at most 10s")
			f.StringVar(&o.toAt, "to-at", "", "drag the element to the point X,Y of the viewport")
			f.StringArrayVar(&o.waypoints, "waypoint", nil, "pass the element with this ref, or the point X,Y of the viewport; may be repeated")
		},
		step: dragStep,
	},
	{
		name: "upload", args: []string{"FILE…"}, short: "Upload files to a file input, a file chooser or a drop zone",
		long: `Upload files from this machine to a file input, its label, a button that opens a file chooser, or a
drop zone. The request carries up to 4 MiB in total. Larger files are passed by path, which the daemon
must allow with domtap serve --upload-dir.`,
		example: "  domtap upload 7 photo.png\n  domtap upload 7 --by-path /srv/files/video.mp4",
		flags: func(f *pflag.FlagSet, o *options) {
			f.BoolVar(&o.byPath, "by-path", false, "upload by path; the files are on the daemon's machine")
		},
		step: uploadStep,
	},
}

// holding converts the time to hold a button or key. It returns nil for zero.
func holding(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// maxScroll is the largest distance of a scroll, in CSS pixels.
const maxScroll = 100_000

// scrollWords maps common words for a scroll direction to a distance. To scroll to an element with such a text, use --text.
var scrollWords = map[string]float64{"down": oneScreen, "up": -oneScreen, "bottom": maxScroll, "end": maxScroll, "top": -maxScroll, "start": -maxScroll}

// oneScreen is less than the height of a common viewport, so that a scroll skips no content.
const oneScreen = 600

func scrollStep(t *domtapv1.Target, _ []string, o *options) (*domtapv1.Step, error) {
	s := &domtapv1.ScrollStep{Target: t, Modifiers: o.modifiers}
	var err error
	way, isWay := scrollWords[t.GetText()]
	switch {
	case isWay && o.said && o.by == "" && o.to == "" && t.GetWithin() == "" && t.GetNth() == 0:
		s.Target, s.DeltaY = nil, way
	case o.by != "" && o.to != "":
		err = exit.Errorf(exit.Usage, "use one of these flags", "--by and --to exclude each other")
	case o.by != "":
		s.DeltaX, s.DeltaY, err = pair("by", o.by)
	case o.to == "end", o.to == "bottom":
		s.DeltaY = maxScroll
	case o.to == "start", o.to == "top":
		s.DeltaY = -maxScroll
	case o.to != "":
		err = exit.Errorf(exit.Usage, "domtap scroll --to end", "--to is start or end, not %q", o.to)
	case t == nil:
		err = exit.Errorf(exit.Usage, "domtap scroll 12, domtap scroll --by 0,600, or domtap scroll --to end", "missing REF, --by or --to")
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: s}}, err
}

func dragStep(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error) {
	s := &domtapv1.DragStep{Target: t, Hold: holding(o.hold)}
	var err error
	switch {
	case o.by != "" && o.toAt != "":
		err = exit.Errorf(exit.Usage, "use one of these flags", "--by and --to-at exclude each other")
	case o.by != "":
		s.DeltaX, s.DeltaY, err = pair("by", o.by)
	case o.toAt != "":
		s.To, err = byPoint("to-at", o.toAt)
	default:
		s.To = byArguments(args, false, false)
	}
	for _, text := range o.waypoints {
		var waypoint *domtapv1.Target
		if err != nil {
			break
		}
		waypoint, err = byPlace("waypoint", text)
		s.Waypoints = append(s.Waypoints, waypoint)
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: s}}, err
}

// maxInline limits the bytes of files in one request.
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
	if !o.byPath && size <= maxInline {
		s.Paths = nil
		for _, name := range args {
			file, err := fileToUpload(name, "check the name of the file; for a file on the daemon's machine, use --by-path")
			if err != nil {
				return nil, err
			}
			s.Files = append(s.Files, file)
		}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: s}}, nil
}

// fileToUpload reads a local file. hint is the hint of its error.
func fileToUpload(name, hint string) (*domtapv1.UploadFile, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, hint, "read the file to upload: %w", err)
	}
	return &domtapv1.UploadFile{Name: filepath.Base(name), Content: content}, nil
}
