package lspclient

import (
	"context"
	"fmt"
)

// turn is a lock that can be waited for with a context: it is held while
// something is sent, and a server that does not read holds that up.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn, which the caller gives back.
func (c *Client) take(ctx context.Context, t turn, what string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	case <-c.Done():
		return fmt.Errorf("%s: %w", what, c.Err())
	}
}

func (t turn) give() { <-t }
