package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"vnd/pkg/core/dist"
)

// A rank that prints nothing says all the same what it fails by before the ranks have met, and fails.
func TestSilentRankFailsAloud(t *testing.T) {
	t.Setenv("OMPI_COMM_WORLD_RANK", "1")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	for want, args := range map[string][]string{
		"vnd: unknown flag --hedgehog": {"train", "--hedgehog"},
		"vnd eval: started as 2 processes, expected one": {"eval", "--task", "hover", "--bundle", "a.vnd",
			"--world", "w.yaml"},
		"vnd sweep: FILE: open nowhere.yaml":                    {"sweep", "nowhere.yaml", "--index", "0"},
		"vnd bench: expected at least one environment":          {"bench", "policy", "--envs", "0"},
		"vnd bench: expected at least two contexts, one to 200": {"bench", "fit", "--batch", "1", "--json"},
	} {
		var out, said bytes.Buffer
		if code := Run(t.Context(), args, &out, &said); code != 1 || !strings.HasPrefix(said.String(), want) ||
			out.Len() > 0 {
			t.Errorf("vnd %s: code %d, %q, %q; want %q", strings.Join(args, " "), code, &out, &said, want)
		}
	}
}

// What all ranks fail by, rank 0 alone says; what one alone fails by, that one.
func TestOneRankReportsACommonError(t *testing.T) {
	own := &dist.Error{Rank: 1, Err: errors.New("lost")}
	for _, c := range []struct {
		silent, agreed bool
		err            error
		aloud          bool
	}{
		{true, true, errors.New("gone"), false},
		{true, true, errors.Join(errors.New("gone"), own), true},
		{true, false, own, true},
		{true, false, errors.New("gone"), true},
		{false, true, errors.New("gone"), true},
	} {
		var nowhere, voice bytes.Buffer
		con := newConsole(t.Context(), &nowhere, &nowhere, false)
		con.silent, con.agreed, con.voice = c.silent, c.agreed, &voice
		if code := con.fail("vnd fit", c.err); (code != 0) != c.aloud || (voice.Len() > 0) != c.aloud {
			t.Errorf("%+v: code %d, said %q", c, code, &voice)
		}
	}
}
