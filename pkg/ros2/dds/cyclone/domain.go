//go:build cgo && !nocyclone

package cyclone

// #cgo pkg-config: CycloneDDS
// #cgo CFLAGS: -I${SRCDIR}/../native
// #include <stdlib.h>
// #include "glue.h"
import "C"

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

// domain is a domain that participants of this process share.
type domain struct {
	id     int
	entity C.dds_entity_t
	xml    string
	keys   dds.Security // of all participants; zero without security
	users  int
}

var (
	domainsLock sync.Mutex
	domains     = map[int]*domain{}
)

// acquire returns the domain, and opens it if it is not open yet; logged are the lines
// that Cyclone DDS logged.
func acquire(c Config) (_ *domain, logged []string, _ error) {
	domainsLock.Lock()
	defer domainsLock.Unlock()
	var keys dds.Security
	if c.Security != nil {
		keys = *c.Security
	}
	if d := domains[c.Domain]; d != nil {
		switch {
		case d.xml != c.XML:
			return nil, nil, fmt.Errorf("domain %d is open in this process with another configuration: "+
				"a process has one for a domain", c.Domain)
		case d.keys != keys: // Cyclone DDS 0.10.2 mixes up their permissions, and crashes where one has none
			return nil, nil, fmt.Errorf("domain %d is open in this process with other keys, or without any: "+
				"a process has one enclave for a domain", c.Domain)
		}
		d.users++
		return d, nil, nil
	}
	xml := C.CString(c.XML)
	defer C.free(unsafe.Pointer(xml))
	text := make([]byte, 16<<10)
	entity := C.vnd_domain_open(C.uint32_t(c.Domain), xml, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
	logged = logLines(C.GoString((*C.char)(unsafe.Pointer(&text[0]))))
	if entity < 0 {
		return nil, logged, explain(c.Domain, logged, entity)
	}
	d := &domain{id: c.Domain, entity: entity, xml: c.XML, keys: keys, users: 1}
	domains[c.Domain] = d
	return d, logged, nil
}

// release closes the domain after its last participant.
func (d *domain) release() {
	domainsLock.Lock()
	defer domainsLock.Unlock()
	if d.users--; d.users == 0 {
		C.dds_delete(d.entity)
		delete(domains, d.id)
	}
}

// logLines splits Cyclone DDS' log into lines without times and threads, such as
// "1763712000.123456 [5]     vnd: text".
func logLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(logPrefix.ReplaceAllString(line, ""))
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

var (
	logPrefix   = regexp.MustCompile(`^\d+\.\d+ \[\w*\]\s+[^:]*: `)
	noInterface = regexp.MustCompile(`^(.*): does not match an available interface`)
)

// explain is the error for a domain that does not open.
func explain(id int, logged []string, code C.dds_entity_t) error {
	for _, line := range logged {
		if m := noInterface.FindStringSubmatch(line); m != nil {
			return fmt.Errorf("domain %d: no such network interface: %s; there are %s", id, m[1], interfaces())
		}
		if strings.Contains(line, "free participant index") {
			return fmt.Errorf("domain %d: no free participant index: every process takes one; "+
				"end some, or raise Discovery/MaxAutoParticipantIndex", id)
		}
	}
	if len(logged) == 0 {
		logged = []string{failure(C.int(code)).Error()}
	}
	return fmt.Errorf("domain %d: %s", id, strings.Join(logged, "; "))
}

// interfaces lists the network interfaces that are up.
func interfaces() string {
	var all []string
	found, err := net.Interfaces()
	if err != nil {
		return "none that can be listed: " + err.Error()
	}
	for _, i := range found {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addresses, _ := i.Addrs() // without addresses the name alone helps
		var texts []string
		for _, a := range addresses {
			address, _, _ := strings.Cut(a.String(), "/")
			texts = append(texts, address)
		}
		all = append(all, fmt.Sprintf("%s (%s)", i.Name, strings.Join(texts, ", ")))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// failure is a return code of Cyclone DDS as an error.
func failure(code C.int) error {
	return errors.New("Cyclone DDS: " + strings.ToLower(C.GoString(C.dds_strretcode(C.dds_return_t(code)))))
}

// checkLibrary fails when the library at run time is of another series than the
// headers at compile time.
var checkLibrary = sync.OnceValue(func() error {
	path := C.vnd_library()
	if path == nil {
		return errors.New("the path of the loaded library of Cyclone DDS is unknown")
	}
	return checkVersion(C.GoString(path), C.DDS_VERSION_MAJOR, C.DDS_VERSION_MINOR)
})

// checkVersion compares a library's name, such as libddsc.so.0.10.2, with a series.
func checkVersion(path string, major, minor int) error {
	m := regexp.MustCompile(`\.so\.(\d+)\.(\d+)\.\d+$`).FindStringSubmatch(filepath.Base(path))
	want := fmt.Sprintf("%d.%d", major, minor)
	switch {
	case m == nil:
		return fmt.Errorf("%s: no version of Cyclone DDS in its name; expected %s", path, want)
	case m[1]+"."+m[2] != want:
		return fmt.Errorf("%s is Cyclone DDS %s.%s; this program was compiled for %s and needs that series", path,
			m[1], m[2], want)
	}
	return nil
}
