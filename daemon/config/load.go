package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Source is what a configuration is made from.
type Source struct {
	File  string            // of TOML; it may be missing
	Env   []string          // as os.Environ returns it
	Flags map[string]string // "daemon.log_level" to its text
}

// Error is a setting that cannot be used.
type Error struct {
	Where   string // file:line:column, the variable or the flag
	Message string
}

// Error returns where and what.
func (e *Error) Error() string { return e.Where + ": " + e.Message }

// Load reads the configuration: defaults, then the file, the environment and
// the flags. It returns all of it or an *Error; there is no half of one.
func Load(src Source) (*Config, *Origins, error) {
	cfg, origins := &Config{}, &Origins{from: map[string]string{}}
	if err := applyDefaults(reflect.ValueOf(cfg).Elem()); err != nil {
		return nil, nil, err
	}
	text, err := readFile(src.File)
	if err != nil {
		return nil, nil, err
	}
	if err := cfg.decode(text, src.File); err != nil {
		return nil, nil, err
	}
	for key, line := range lines(text) {
		origins.from[key] = fmt.Sprintf("%s:%d", src.File, line)
	}
	if err := cfg.environment(src.Env, origins); err != nil {
		return nil, nil, err
	}
	for _, key := range sortedKeys(src.Flags) {
		if err := cfg.assign(key, src.Flags[key], "flag for "+key); err != nil {
			return nil, nil, err
		}
		origins.from[key] = "flag"
	}
	if err := cfg.check(origins); err != nil {
		return nil, nil, err
	}
	return cfg, origins, nil
}

func readFile(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{name, err.Error()}
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, &Error{name, err.Error()}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{name, "is not a regular file"}
	}
	if othersMayWrite(info) {
		return nil, &Error{name, "can be written by others, and it names commands to run; chmod 600 it"}
	}
	if info.Size() > maxFile {
		return nil, &Error{name, fmt.Sprintf("is larger than %d bytes", maxFile)}
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		return nil, &Error{name, err.Error()}
	}
	return b.Bytes(), nil
}

// maxFile is far above any configuration.
const maxFile = 1 << 20

func (c *Config) decode(text []byte, name string) error {
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(c)
	var missing *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
	case errors.As(err, &missing) && len(missing.Errors) > 0:
		e := missing.Errors[0]
		row, col := e.Position()
		return &Error{fmt.Sprintf("%s:%d:%d", name, row, col), unknownKey(strings.Join(e.Key(), "."))}
	case errors.As(err, &wrong):
		row, col := wrong.Position()
		message := strings.TrimPrefix(wrong.Error(), "toml: ")
		if key := strings.Join(wrong.Key(), "."); key != "" {
			message = key + ": " + message
		}
		return &Error{fmt.Sprintf("%s:%d:%d", name, row, col), message}
	default:
		return &Error{name, err.Error()}
	}
	return nil
}

func unknownKey(key string) string {
	message := fmt.Sprintf("unknown key %s", key)
	if near := nearestKey(key); near != "" {
		message += "; did you mean " + near + "?"
	}
	return message
}

// environment applies AURA_<TABLE>_<KEY>. Names outside the tables (AURA_TRUST,
// AURA_SESSION) are not settings; a name within one that no key has is an error.
func (c *Config) environment(env []string, origins *Origins) error {
	env = slices.Sorted(slices.Values(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		rest, ours := strings.CutPrefix(name, "AURA_")
		if !ours {
			continue
		}
		key, known, inTable := settingOf(rest)
		if !inTable {
			continue
		}
		if !known {
			return &Error{name, "there is no such setting"}
		}
		if err := c.assign(key, value, name); err != nil {
			return err
		}
		origins.from[key] = name
	}
	return nil
}

// assign sets the key to a value written as text.
func (c *Config) assign(key, text, where string) error {
	if name, field, ok := serverKey(key); ok {
		server := c.Servers[name]
		if err := setText(fieldByKey(reflect.ValueOf(&server).Elem(), field), text); err != nil {
			return &Error{where, err.Error()}
		}
		if c.Servers == nil {
			c.Servers = map[string]Server{}
		}
		c.Servers[name] = server
		return nil
	}
	v := fieldByKey(reflect.ValueOf(c).Elem(), key)
	if !v.IsValid() {
		return &Error{where, unknownKey(key)}
	}
	if err := setText(v, text); err != nil {
		return &Error{where, err.Error()}
	}
	return nil
}

func setText(v reflect.Value, text string) error {
	switch {
	case !v.IsValid():
		return errors.New("there is no such setting")
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("must be a whole number, not %q", text)
		}
		v.SetInt(int64(n))
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", text)
		}
		v.SetBool(b)
	case v.Kind() == reflect.Slice:
		words := strings.Fields(text)
		if strings.HasPrefix(strings.TrimSpace(text), "[") {
			var list struct {
				V []string `toml:"v"`
			}
			if err := toml.Unmarshal([]byte("v = "+text), &list); err != nil {
				return fmt.Errorf("must be words or a TOML list of strings, not %q", text)
			}
			words = list.V
		}
		v.Set(reflect.ValueOf(words))
	default:
		return errors.New("can be set in the file only")
	}
	return nil
}

// check applies min and enum, and says where the value came from.
func (c *Config) check(origins *Origins) error {
	for _, s := range settings(reflect.ValueOf(c).Elem(), "") {
		if lowest, ok := s.tag.Lookup("min"); ok {
			if n, err := strconv.Atoi(lowest); err == nil && s.value.Int() < int64(n) {
				return &Error{origins.Of(s.key), fmt.Sprintf("%s must be at least %s, not %d", s.key, lowest, s.value.Int())}
			}
		}
		if enum, ok := s.tag.Lookup("enum"); ok {
			allowed := strings.Split(enum, "|")
			i := slices.IndexFunc(allowed, func(a string) bool { return strings.EqualFold(a, s.value.String()) })
			if i < 0 {
				return &Error{origins.Of(s.key), fmt.Sprintf("%s must be one of %s, not %q", s.key, strings.Join(allowed, ", "), s.value.String())}
			}
			s.value.SetString(allowed[i])
		}
	}
	return nil
}
