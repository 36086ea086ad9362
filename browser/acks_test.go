package browser

import (
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

// agentOfAcks is what an agent does with acknowledgements (60-agent.js): it sends until its window is full, until a
// patch has additions, or until it has answered a read.
type agentOfAcks struct {
	sequence, acked, held uint64
	adds                  bool
}

func (a *agentOfAcks) blocked() bool {
	return a.acked < a.held || a.sequence-a.acked >= page.Window || a.adds
}

func (a *agentOfAcks) take(sequence uint64) {
	if sequence <= a.acked {
		return
	}
	a.acked = sequence
	if sequence == a.sequence {
		a.adds = false
	}
}

// TestNoAgentWaitsForever lets an agent send patches of all kinds and answer reads, each of which is acknowledged
// by the actor: however they follow each other, it can send on.
func TestNoAgentWaitsForever(t *testing.T) {
	for seed := range uint64(2000) {
		var a agentOfAcks
		var k acks
		posted := 0
		for step, dice := range steps(seed) {
			if a.blocked() {
				t.Fatalf("seed %d: the agent is blocked at step %d: %+v, %+v", seed, step, a, k)
			}
			a.sequence++
			ack := actor.Ack{Sequence: a.sequence}
			switch dice {
			case 0: // a read, which takes along what is owed, and answers with a patch
				a.sequence--
				if taken := k.taken(nil); taken != nil {
					a.take(taken.Sequence)
				}
				if a.acked < a.sequence {
					t.Fatalf("seed %d: a read at step %d finds patches on their way that the actor has", seed, step)
				}
				a.sequence++
				a.held, ack.Sequence = a.sequence, a.sequence
				k.awaited = true
			case 1:
				a.adds, ack.Refs = true, []dom.Ref{1}
			}
			if k.due(ack) {
				posted++
				a.take(ack.Sequence)
			}
		}
		if seed == 0 && posted > 100/(page.Window/2) {
			t.Errorf("%d acknowledgements for 100 patches without additions", posted)
		}
	}
}

// steps are 100 throws of a die with six sides; those of seed 0 are all 5.
func steps(seed uint64) []uint64 {
	all := make([]uint64, 100)
	x := seed
	for i := range all {
		x = x*6364136223846793005 + seed
		if all[i] = x >> 33 % 6; seed == 0 {
			all[i] = 5
		}
	}
	return all
}
