package visualizer

import (
	"time"

	"vnd/pkg/ros2/ros"
	"vnd/pkg/viz/markers"
)

// draw makes the timers of what is drawn.
func (v *Visualizer) draw() error {
	slow := ros.InGroup(v.slow)
	for period, f := range map[time.Duration]func(){
		100 * time.Millisecond: v.drawVehicle,
		500 * time.Millisecond: v.drawPaths,
		time.Second:            v.scene.UpdatePlane,
	} {
		if _, err := v.NewWallTimer(period, f, slow); err != nil {
			return err
		}
	}
	if v.params.Imagine == 0 {
		return nil
	}
	_, err := v.NewWallTimer(time.Duration(float64(time.Second)/v.params.Imagine), v.imagine, slow)
	return err
}

// warn tells of what could not be sent.
func (v *Visualizer) warn(err error) {
	if err != nil {
		v.Log().Warn().Msg(err.Error())
	}
}

func (v *Visualizer) transform() {
	if r, _, frame, ok := v.scene.Newest(); ok {
		v.warn(v.tf.Publish(markers.Transform(&r, frame, v.params.BodyFrame)))
	}
}

// drawVehicle draws where somebody looks.
func (v *Visualizer) drawVehicle() {
	if r, task, frame, ok := v.scene.Newest(); ok && v.vehicle.Matched() > 0 {
		v.warn(v.vehicle.Publish(markers.Vehicle(&r, frame, task)))
	}
}

// thinned rows of which one is drawn.
const thinned = 5

func (v *Visualizer) drawPaths() {
	r, _, frame, ok := v.scene.Newest()
	if !ok {
		return
	}
	if v.flown.Matched()+v.tube.Matched() > 0 {
		v.rows = v.scene.Last(v.params.Path, thinned, v.rows[:0])
		v.warn(v.flown.Publish(markers.Flown(v.rows, frame)))
		v.warn(v.tube.Publish(markers.Tube(v.rows, frame, r.Stamp, v.params.Full)))
	}
	if v.imagined.Matched() > 0 {
		v.warn(v.imagined.Publish(markers.Rollouts(v.scene.Snapshot(time.Now()).Imagined, frame, r.Stamp)))
	}
	if v.latents.Matched() > 0 {
		v.rows = v.scene.Last(v.params.History, 2*thinned, v.rows[:0])
		plane := v.scene.Snapshot(time.Now()).Plane
		v.warn(v.latents.Publish(markers.Latents(v.rows, plane, v.mapAt(), frame, r.Stamp)))
	}
}

func (v *Visualizer) imagine() {
	_, err := v.scene.Predict()
	v.warn(err)
}
