package member

import (
	"encoding/json"
	"fmt"

	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/sessions"
)

// state is what another node needs of a session, besides what the registry knows. Nodes of neighbouring versions read it: fields are added,
// and never change their meaning.
type state struct {
	// Whole says that the session was stopped, so that the state has all of its tabs as they were then.
	Whole    bool              `json:"whole,omitempty"`
	Settings sessions.Settings `json:"settings"`
	Storage  sessions.State    `json:"storage"`
	Tabs     []tabState        `json:"tabs,omitempty"`
}

// tabState is one tab.
type tabState struct {
	restore.Record
	// Restore: the tab is to be restored when it loses its page.
	Restore bool `json:"restore,omitempty"`
}

// encode writes a state.
func (s state) encode() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the state of a session: %w", err)
	}
	return text, nil
}

// decode reads a state; nothing is the state of a session of which none was saved.
func decode(text []byte) (s state, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the state of a session: %w", err)
	}
	return s, nil
}

// restored are the tabs to open again, of those that are registered: all of a session that was stopped, and else those with restore, at the
// URL that the registry knows, which is the newer one.
func (s state) restored(session string, registered map[string]registry.Tab) []tabState {
	saved := map[string]tabState{}
	for _, t := range s.Tabs {
		saved[t.ID] = t
	}
	var all []tabState
	for id, r := range registered {
		t, known := saved[id]
		if !r.Restore && !(s.Whole && known) {
			continue
		}
		if !known || !s.Whole && dom.WithoutUser(t.URL) != r.URL {
			t = tabState{Record: restore.Record{URL: r.URL, Viewport: t.Viewport, Refs: t.Refs}, Restore: true}
		}
		t.ID, t.Session, t.Restarts = id, session, 0
		t.Refs = max(t.Refs, dom.Ref(r.RefFloor))
		all = append(all, t)
	}
	return all
}
