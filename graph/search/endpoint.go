package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Endpoint makes vectors of texts by the protocol that OpenAI's embeddings have
// made common. Texts of the workspace are sent there: only the user's own
// configuration may name one.
type Endpoint struct {
	URL     string // up to the version: http://localhost:11434/v1
	Model   string
	Key     string // sent as a bearer token; empty for none
	Timeout time.Duration
}

// Bounds of a request and its answer.
const (
	maxBatch    = 64
	maxResponse = 64 << 20
	maxExcerpt  = 200 // of what an endpoint says when it refuses
)

type embedRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type embedResponse struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed returns the vector of each text.
func (e Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	target, err := url.Parse(e.URL)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return nil, fmt.Errorf("search.embeddings.url %q is no http or https address", e.URL)
	}
	if !strings.HasSuffix(target.Path, "/embeddings") {
		target = target.JoinPath("embeddings")
	}
	body, err := json.Marshal(embedRequest{Model: e.Model, Input: texts})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout, fmt.Errorf("%s did not answer within %s", target.Host, e.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	// Texts and key go to the address that the user named and nowhere else.
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("%s cannot be reached: %w", target.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("%s broke off its answer: %w", target.Host, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s: %s", target.Host, resp.Status, bytes.TrimSpace(answer[:min(len(answer), maxExcerpt)]))
	case len(answer) > maxResponse:
		return nil, fmt.Errorf("%s answers with more than %d MB", target.Host, maxResponse>>20)
	}
	var got embedResponse
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fmt.Errorf("%s answers with something else than embeddings: %w", target.Host, err)
	}
	out := make([][]float32, len(texts))
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= len(out) || len(d.Embedding) == 0 || len(d.Embedding) != len(got.Data[0].Embedding) {
			return nil, fmt.Errorf("%s answers with embeddings that fit nothing that was asked", target.Host)
		}
		out[d.Index] = d.Embedding
	}
	for i := range out {
		if out[i] == nil {
			return nil, fmt.Errorf("%s answers for %d of %d texts", target.Host, len(got.Data), len(texts))
		}
	}
	return out, nil
}
