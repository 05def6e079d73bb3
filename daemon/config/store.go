package config

import (
	"reflect"
	"sync"
)

// Store holds the configuration in force. It is safe for concurrent use.
type Store struct {
	src     Source
	mu      sync.Mutex // guards what follows
	config  *Config
	origins *Origins
}

// Open loads the configuration.
func Open(src Source) (*Store, error) {
	config, origins, err := Load(src)
	if err != nil {
		return nil, err
	}
	return &Store{src: src, config: config, origins: origins}, nil
}

// Get returns the configuration in force and its origins; do not change them.
func (s *Store) Get() (*Config, *Origins) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config, s.origins
}

// Reload reads the file again and returns the keys whose values changed. With
// an error nothing changes.
func (s *Store) Reload() (changed []string, err error) {
	config, origins, err := Load(s.src)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := map[string]any{}
	for _, v := range s.config.Values(s.origins) {
		before[v.Key] = v.Value
	}
	for _, v := range config.Values(origins) {
		if old, had := before[v.Key]; !had || !reflect.DeepEqual(old, v.Value) {
			changed = append(changed, v.Key)
		}
		delete(before, v.Key)
	}
	changed = append(changed, sortedKeys(before)...)
	s.config, s.origins = config, origins
	return changed, nil
}
