package lspclient

import (
	"context"
	"fmt"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/wire"
)

// capture holds the edits that a server pushes while a command is in flight.
type capture struct {
	turn   turn       // held by the command in flight
	mu     sync.Mutex // guards the fields below
	active bool
	edits  []protocol.WorkspaceEdit
}

// Edits runs fn, which sends a command, and returns the edits that the server
// asks to apply until fn returns. They are answered as applied and are the
// caller's to apply. Commands run one at a time; at any other time the server
// is told that its edit was not applied.
func (c *Client) Edits(ctx context.Context, fn func(context.Context) error) ([]protocol.WorkspaceEdit, error) {
	if err := c.take(ctx, c.edits.turn, "command"); err != nil {
		return nil, err
	}
	defer c.edits.turn.give()
	c.edits.mu.Lock()
	c.edits.active, c.edits.edits = true, nil
	c.edits.mu.Unlock()
	err := fn(ctx)
	c.edits.mu.Lock()
	defer c.edits.mu.Unlock()
	edits := c.edits.edits
	c.edits.active, c.edits.edits = false, nil
	return edits, err
}

// Command sends workspace/executeCommand through Edits.
func (c *Client) Command(ctx context.Context, name string, args []any, result any) ([]protocol.WorkspaceEdit, error) {
	params := struct {
		Command   string `json:"command"`
		Arguments []any  `json:"arguments,omitempty"`
	}{name, args}
	return c.Edits(ctx, func(ctx context.Context) error {
		return c.Call(ctx, "workspace/executeCommand", params, result)
	})
}

// applyEdit runs on the reader, so that an edit counts even when the command's
// own answer follows at once.
func (c *Client) applyEdit(params []byte) wire.Answer {
	refuse := func(reason string) wire.Answer {
		return wire.Answer{Result: &protocol.ApplyWorkspaceEditResult{FailureReason: &reason}}
	}
	c.edits.mu.Lock()
	defer c.edits.mu.Unlock()
	if !c.edits.active {
		c.log.Warn("refused an edit that no command asked for")
		return refuse("no command is in progress")
	}
	var p protocol.ApplyWorkspaceEditParams
	err := exact(params)
	if err == nil {
		err = protocol.Unmarshal(params, &p)
	}
	if err != nil {
		c.log.Warn("refused an edit that cannot be decoded", "err", err)
		return refuse(fmt.Sprintf("edit cannot be decoded: %v", err))
	}
	c.edits.edits = append(c.edits.edits, p.Edit)
	return wire.Answer{Result: &protocol.ApplyWorkspaceEditResult{Applied: true}}
}
