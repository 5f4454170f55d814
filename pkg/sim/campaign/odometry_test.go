package campaign

import "testing"

// An odometry that freezes repeats its velocity, too. Poses that stand still contradicted that before they counted as
// frozen, so that the guard believed a robot at rest that sank, and met the floor hard.
func TestFrozenOdometry(t *testing.T) {
	rows, err := Select("5")
	if err != nil {
		t.Fatal(err)
	}
	row, p := rows[0], *made(t)
	p.Odometry = true
	for cell := range Cells() {
		r, err := newRun(&p, &row, cell, 0, 3)
		if err == nil {
			err = r.Fly()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range row.Judge(r) {
			if !c.OK() {
				t.Errorf("cell %d, %s: %v", cell, r.Label, c)
			}
		}
	}
}
