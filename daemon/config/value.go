package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Origins tells where each value came from.
type Origins struct {
	from map[string]string
}

// Of returns "default", "flag", the variable or the file with its line.
func (o *Origins) Of(key string) string {
	for {
		if from, ok := o.from[key]; ok {
			return from
		}
		dot := strings.LastIndexByte(key, '.') // an inline table gives all that it holds
		if dot < 0 {
			return "default"
		}
		key = key[:dot]
	}
}

// Value is one setting as people see it.
type Value struct {
	Key     string `json:"key"` // "validate.shadow"
	Value   any    `json:"value"`
	Origin  string `json:"origin"`
	Default string `json:"default,omitempty"`
	Doc     string `json:"doc"`
}

// Values lists every setting with its origin, in the order of Config; the
// servers that the user set up come last, by name.
func (c *Config) Values(origins *Origins) []Value {
	var out []Value
	add := func(list []setting) {
		for _, s := range list {
			out = append(out, Value{s.key, s.value.Interface(), origins.Of(s.key), s.tag.Get("default"), s.tag.Get("doc")})
		}
	}
	add(settings(reflect.ValueOf(c).Elem(), ""))
	for _, name := range sortedKeys(c.Servers) {
		server := c.Servers[name]
		add(settings(reflect.ValueOf(&server).Elem(), "servers."+name+"."))
	}
	return out
}

type setting struct {
	key   string
	value reflect.Value
	tag   reflect.StructTag
}

// settings walks a struct; the map of servers has no keys of its own.
func settings(v reflect.Value, prefix string) []setting {
	var out []setting
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key := prefix + f.Tag.Get("toml")
		switch {
		case f.Type.Kind() == reflect.Struct:
			out = append(out, settings(v.Field(i), key+".")...)
		case f.Type == reflect.TypeFor[map[string]Server]():
		default:
			out = append(out, setting{key, v.Field(i), f.Tag})
		}
	}
	return out
}

func applyDefaults(v reflect.Value) error {
	for _, s := range settings(v, "") {
		if text, ok := s.tag.Lookup("default"); ok {
			if err := setText(s.value, text); err != nil {
				return fmt.Errorf("default of %s: %w", s.key, err)
			}
		}
	}
	return nil
}

func fieldByKey(v reflect.Value, key string) reflect.Value {
	for _, s := range settings(v, "") {
		if s.key == key {
			return s.value
		}
	}
	return reflect.Value{}
}

// serverKey splits servers.NAME.KEY.
func serverKey(key string) (name, field string, ok bool) {
	rest, ok := strings.CutPrefix(key, "servers.")
	if !ok {
		return "", "", false
	}
	name, field, ok = strings.Cut(rest, ".")
	return name, field, ok && name != "" && field != ""
}

// settingOf turns VALIDATE_EDIT_TIMEOUT_SECONDS into its key. inTable says that
// the name begins with a table's, so that it was meant for one.
func settingOf(name string) (key string, known, inTable bool) {
	lower := strings.ToLower(name)
	var c Config
	for _, s := range settings(reflect.ValueOf(&c).Elem(), "") {
		if strings.ReplaceAll(s.key, ".", "_") == lower {
			return s.key, true, true
		}
		table, _, _ := strings.Cut(s.key, ".")
		inTable = inTable || strings.HasPrefix(lower, table+"_")
	}
	rest, ok := strings.CutPrefix(lower, "servers_")
	if !ok {
		return "", false, inTable
	}
	var server Server
	for _, s := range settings(reflect.ValueOf(&server).Elem(), "") {
		if engine, ok := strings.CutSuffix(rest, "_"+s.key); ok && engine != "" {
			return "servers." + strings.ReplaceAll(engine, "_", "-") + "." + s.key, true, true
		}
	}
	return "", false, true
}

func nearestKey(key string) string {
	var c Config
	var server Server
	known := settings(reflect.ValueOf(&c).Elem(), "")
	if name, _, ok := serverKey(key); ok {
		known = settings(reflect.ValueOf(&server).Elem(), "servers."+name+".")
	}
	best, distance := "", 4
	for _, s := range known {
		if d := edits(key, s.key); d < distance {
			best, distance = s.key, d
		}
	}
	return best
}

// edits is the number of bytes to insert, delete or replace.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// lines returns the line of every key of a document.
func lines(text []byte) map[string]int {
	out := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		var parts []string
		first := -1
		for it := node.Key(); it.Next(); {
			if first < 0 {
				first = int(it.Node().Raw.Offset)
			}
			parts = append(parts, string(it.Node().Data))
		}
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = parts
		case unstable.KeyValue:
			key := strings.Join(append(slices.Clone(table), parts...), ".")
			out[key] = 1 + strings.Count(string(text[:max(0, first)]), "\n")
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
