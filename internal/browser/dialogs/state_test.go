package dialogs

import (
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

var start = time.Unix(1000, 0)

func TestThePolicyAnswersAtOnce(t *testing.T) {
	for _, c := range []struct {
		policy  driver.DialogPolicy
		leaving bool
		kind    string
		want    driver.Answer
	}{
		{0, false, "alert", driver.Unanswered},
		{driver.AcceptDialogs, false, "confirm", driver.Accepted},
		{driver.DismissDialogs, false, "confirm", driver.Dismissed},
		{driver.AcceptDialogs, true, "confirm", driver.Dismissed},
		{driver.AcceptDialogs, true, "beforeunload", driver.Accepted},
		{0, true, "beforeunload", driver.Unanswered},
	} {
		var s State
		s.SetPolicy(c.policy)
		s.SetLeaving(c.leaving)
		if got := s.Opened(c.kind, "m", "", start).Answer; got != c.want {
			t.Errorf("policy %d, leaving %v: %s gets answer %d, want %d", c.policy, c.leaving, c.kind, got, c.want)
		}
	}
}

func TestTheOpenDialogIsReconsideredOnce(t *testing.T) {
	var s State
	if s.Reconsider() {
		t.Error("an answer is to be sent though no dialog is open")
	}
	told := s.Opened("prompt", "m", "d", start)
	s.SetPolicy(driver.AcceptDialogs)
	if !s.Reconsider() || s.Reconsider() {
		t.Error("not exactly one answer is to be sent")
	}
	if told.Answer != driver.Unanswered {
		t.Error("the dialog that was reported has changed")
	}
	if open, prompt := s.Open(); open.Answer != driver.Accepted || prompt != "d" {
		t.Errorf("the open dialog is %+v with the text %q", open, prompt)
	}
}

// TestAPageThatOnlyOpensDialogsIsNotAnsweredForEver opens more dialogs in a row than get an immediate answer, and one after a pause.
func TestAPageThatOnlyOpensDialogsIsNotAnsweredForEver(t *testing.T) {
	var s State
	s.SetPolicy(driver.AcceptDialogs)
	answered := 0
	for range 2 * maxRow {
		if s.Opened("alert", "m", "", start).Answer == driver.Accepted {
			answered++
		}
		s.Closed(true, start)
	}
	if answered != maxRow-1 {
		t.Errorf("%d were answered, want %d", answered, maxRow-1)
	}
	if d := s.Opened("alert", "m", "", start.Add(2*rowPause)); d.Answer != driver.Accepted {
		t.Error("one that came after a pause was not answered")
	}
}

func TestAStayIsCountedForBeforeunloadAlone(t *testing.T) {
	var s State
	for _, c := range []struct {
		kind     string
		accepted bool
		stays    bool
	}{{"alert", false, false}, {"beforeunload", true, false}, {"beforeunload", false, true}} {
		s.Opened(c.kind, "m", "", start)
		if _, stays := s.Closed(c.accepted, start); stays != c.stays {
			t.Errorf("%s, accepted %v: it keeps the page: %v", c.kind, c.accepted, stays)
		}
	}
	if s.Stays() != 1 || s.Unloads() != 2 {
		t.Errorf("%d of %d beforeunload dialogs kept the page, want 1 of 2", s.Stays(), s.Unloads())
	}
}

// TestAnAnswerReachesTheDialogThatWasOpen also covers an open dialog that closed by itself while another one got the answer.
func TestAnAnswerReachesTheDialogThatWasOpen(t *testing.T) {
	var s State
	first := s.Opened("confirm", "first", "", start)
	s.Closed(false, start) // by itself
	s.Opened("confirm", "second", "", start)
	s.Closed(true, start)
	if got := s.Reached(first, true); got.Message != "second" {
		t.Errorf("the answer reached %q", got.Message)
	}
	if got := s.Reached(first, false); got.Message != "first" || got.Answer != driver.Dismissed {
		t.Errorf("the answer reached %+v", got)
	}
}

func TestTextsAreBounded(t *testing.T) {
	var s State
	d := s.Opened("prompt", strings.Repeat("ä", 5000), strings.Repeat("x", 500_000), start)
	if _, prompt := s.Open(); len([]rune(d.Message)) != 1000 || len(d.Default) != 1000 || len(prompt) != maxPrompt {
		t.Errorf("%d, %d and %d characters are kept", len([]rune(d.Message)), len(d.Default), len(prompt))
	}
}
