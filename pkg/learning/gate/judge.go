package gate

// JudgeConfig sizes the flights of a judge in the full simulator.
type JudgeConfig struct {
	Seconds   float64 `param:"seconds" default:"8.0" min:"1" max:"600" unit:"s" doc:"length of a flight"`
	Wind      float64 `param:"wind" default:"3.0" min:"0" max:"30" unit:"m/s²" doc:"greatest wind that the gate draws for a flight"`
	Start     float64 `param:"start" default:"0.1" min:"0" max:"3" unit:"m" doc:"spread of the flights' starts around the path, on each axis (standard deviation)"`
	LatentAge float64 `param:"latent_age" default:"0.1" min:"0.01" max:"10" unit:"s" doc:"age from which a latent is not used in the gate's flights, as policy_controller has it"`
	Filter    bool    `param:"state_filter" default:"true" doc:"the gate flies by the filter of poses, as policy_controller does; false only where poses make states without it"`
	Poses     Poses   `param:"poses" doc:"poses of the gate's flights by the filter, which hides how poor they are; leave them with an IMU"`
}

// Poses is a source of poses, such as motion capture.
type Poses struct {
	Rate     float64 `param:"rate" default:"200" min:"20" max:"1000" unit:"Hz" doc:"poses that come"`
	Latency  float64 `param:"latency" default:"0.005" min:"0" max:"0.5" unit:"s" doc:"age of a pose when it comes"`
	Position float64 `param:"position" default:"0.0003" min:"0" max:"1" unit:"m" doc:"standard deviation of each coordinate"`
	Attitude float64 `param:"attitude" default:"0.002" min:"0" max:"1" unit:"rad" doc:"standard deviation about each axis"`
}
