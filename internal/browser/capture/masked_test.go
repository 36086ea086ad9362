package capture

import (
	"encoding/json"
	"testing"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/observer"
)

// TestAFrameIsCleanWhenAllInItAre checks which frames are painted over entirely.
func TestAFrameIsCleanWhenAllInItAre(t *testing.T) {
	answers := map[dom.FrameID]observer.MaskedAreas{}
	for id, text := range map[dom.FrameID]string{
		"clean":  `{}`,
		"masked": `{"boxes":[[0,0,1,1]]}`,
		"more":   `{"more":true}`,
		"around": `{"frames":[{"name":"clean"},{"name":"inner"}]}`,
		"inner":  `{"frames":[{"name":"masked"}]}`,
		"silent": `{"frames":[{"name":"unknown"}]}`,
		"loop":   `{"frames":[{"name":"loop"}]}`,
	} {
		var v observer.MaskedAreas
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		answers[id] = v
	}
	for id := range answers {
		if got := clean(answers, id, 0); got != (id == "clean") {
			t.Errorf("%s is clean: %v", id, got)
		}
	}
	if clean(answers, "", 0) {
		t.Error("a frame without a name is clean")
	}
}
