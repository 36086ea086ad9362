package readcmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// viewFlags holds the flags that select elements of a page.
type viewFlags struct {
	viewportOnly bool
	maxElements  int32
	maxTokens    int32
	all          bool
	full         bool
	root         uint32
	frame        string
	attributes   []string
	at           atFlag
	cmd          *cobra.Command
}

func (v *viewFlags) register(cmd *cobra.Command) {
	v.cmd = cmd
	f := cmd.Flags()
	f.BoolVar(&v.viewportOnly, "viewport-only", false, "only elements in the viewport")
	f.Int32Var(&v.maxElements, "max-elements", 300, "maximum number of elements; the most useful are printed; 0 means all")
	cli.BudgetFlag(f, &v.maxTokens, 8000, "maximum number of tokens of compact text; 0 means no limit")
	f.BoolVar(&v.all, "all", false, "also print headings, landmarks, text, images, tables, lists and drawings")
	f.BoolVar(&v.full, "full", false, "print all elements without any limit")
	cli.RefFlag(f, &v.root, "root", "only the element with this ref and its descendants")
	v.at.register(cmd)
	f.StringVar(&v.frame, "frame", "", "only this frame")
	f.StringSliceVar(&v.attributes, "attr", nil, "also print these HTML attributes, such as id,data-testid")
	cli.MarkRare(f, "attr", "frame", "full", "max-elements", "root")
}

// request returns a request with the selection. The daemon chooses limits that are not set.
func (v *viewFlags) request(tab string) *domtapv1.GetDomRequest {
	r := &domtapv1.GetDomRequest{
		TabId:             tab,
		ViewportOnly:      v.viewportOnly,
		FullSnapshot:      v.full,
		FrameId:           v.frame,
		IncludeAttributes: v.attributes,
		At:                v.at.message(),
	}
	if v.all {
		r.InteractiveOnly = proto.Bool(false)
	}
	set := v.cmd.Flags().Changed
	if set("max-elements") {
		r.MaxElements = proto.Int32(v.maxElements)
	}
	if set("max-tokens") {
		r.MaxTokens = proto.Int32(v.maxTokens)
	}
	if set("root") {
		r.RootRef = proto.Uint32(v.root)
	}
	return r
}

// selectAs copies the selection of a GetDomRequest to another request. The shared fields have the same numbers in every request, so their
// encoding is the same.
func selectAs[M proto.Message](from *domtapv1.GetDomRequest, to M) (M, error) {
	wire, err := proto.Marshal(from)
	if err != nil {
		return to, fmt.Errorf("encode the selection: %w", err)
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(wire, to); err != nil {
		return to, fmt.Errorf("encode the selection: %w", err)
	}
	return to, nil
}
