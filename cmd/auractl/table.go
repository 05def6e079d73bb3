package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints rows in columns. Cells are escaped by add, but for colours of ours.
type table struct {
	paint  palette
	header []string
	rows   [][]string
}

func newTable(p palette, header ...string) *table { return &table{paint: p, header: header} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// visible counts the characters of a cell without the colours that palette wrote.
func visible(s string) int {
	n := utf8.RuneCountInString(s)
	for {
		_, after, found := strings.Cut(s, "\x1b[")
		if !found {
			return n
		}
		code, rest, _ := strings.Cut(after, "m")
		n -= len("\x1b[") + len(code) + len("m")
		s = rest
	}
}

func (t *table) print(w io.Writer) {
	rows := t.rows
	if len(t.header) > 0 {
		head := make([]string, len(t.header))
		for i, h := range t.header {
			head[i] = t.paint.bold(h)
		}
		rows = append([][]string{head}, rows...)
	}
	width := map[int]int{}
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], visible(c))
		}
	}
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString(c)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-visible(c)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
