// Package search finds parts of files by words: it cuts a file into chunks along
// its declarations, sections or windows, splits identifiers and stems words, and
// ranks chunks by the words of a question. Vectors of an endpoint that the user
// names may be fused with that rank.
//
// It owns the packed index of which words stand in which chunk and no text: who
// shows a result reads the file again and cuts it as it was cut before. Its
// goroutines are the workers of a Feeder, which live while there is something
// to do and for which its Close waits.
package search
