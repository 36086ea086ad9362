package capture

import (
	"bytes"
	"errors"
	"image/gif"
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/animation"
	"github.com/domtap/domtap/internal/testenv"
)

const animated = `<title>Moving</title><style>body{margin:0;background:#fff}#b{position:absolute;width:60px;height:60px;background:#c00}</style>
	<div id=b></div><button onclick="document.body.style.background='#008000'">Green</button>
	<script>let x = 0; const step = () => { b.style.left = (x = (x + 3) % 500) + "px"; requestAnimationFrame(step) }; step()</script>`

// TestAVideoShowsWhatHappensMeanwhile acts on a tab while recording it.
func TestAVideoShowsWhatHappensMeanwhile(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(pageOf(t, animated))
	ctx := testenv.Within(t, time.Minute)
	stream, err := d.Pages.RecordVideo(ctx, &domtapv1.RecordVideoRequest{TabId: tab, Duration: durationpb.New(2 * time.Second), Fps: proto.Int32(10), MaxWidth: proto.Int32(400)})
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	clicked, last := false, false
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, part.GetGif()...)
		last = part.GetLast()
		if !clicked {
			clicked = true
			if _, err := gif.DecodeAll(bytes.NewReader(append(bytes.Clone(file), animation.Trailer))); err == nil {
				t.Error("the first part has a frame already: it is written when its end is known")
			}
			if other, err := d.Pages.RecordVideo(ctx, &domtapv1.RecordVideoRequest{TabId: tab}); err == nil {
				if _, err = other.Recv(); status.Code(err) != codes.ResourceExhausted {
					t.Errorf("a second recording: %v", err)
				}
			}
			ref := d.FirstControl(tab)
			if _, err := d.Actions.Interact(ctx, testenv.ClickOn(tab, ref)); err != nil {
				t.Errorf("acting meanwhile: %v", err)
			}
		}
	}
	g, err := gif.DecodeAll(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, delay := range g.Delay {
		total += delay
	}
	if !last || len(g.Image) < 3 || g.Config.Width != 400 || total < 150 || total > 400 {
		t.Errorf("%d frames of %d by %d in %d hundredths, last %v", len(g.Image), g.Config.Width, g.Config.Height, total, last)
	}
	end := g.Image[len(g.Image)-1]
	green := false
	for _, c := range end.Palette {
		r, gr, b, _ := c.RGBA()
		green = green || r < 0x1000 && gr > 0x7000 && gr < 0x9000 && b < 0x1000
	}
	if !green {
		t.Errorf("the last frame is not green: %v", end.Palette[:min(8, len(end.Palette))])
	}
}

func TestAVideoOfAPageThatRestsHasAFrame(t *testing.T) {
	d := testenv.StartDaemon(t)
	tab := d.Open(pageOf(t, `<title>Still</title><h1>Nothing moves</h1>`))
	stream, err := d.Pages.RecordVideo(testenv.Within(t, time.Minute), &domtapv1.RecordVideoRequest{TabId: tab, Duration: durationpb.New(500 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, part.GetGif()...)
	}
	if g, err := gif.DecodeAll(bytes.NewReader(file)); err != nil || len(g.Image) < 1 || g.Delay[0] < 2 {
		t.Errorf("got %v, %v", g, err)
	}
}

// pageOf serves one page.
func pageOf(t *testing.T, html string) string {
	return testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(html)}) + "/"
}
