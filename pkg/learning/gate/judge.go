package gate

// JudgeConfig sizes the flights of a judge in the full simulator.
type JudgeConfig struct {
	Seconds   float64 `param:"seconds" default:"8.0" min:"1" max:"600" unit:"s" doc:"length of a flight"`
	Wind      float64 `param:"wind" default:"3.0" min:"0" max:"30" unit:"m/s²" doc:"greatest wind that the gate draws for a flight"`
	Start     float64 `param:"start" default:"0.1" min:"0" max:"3" unit:"m" doc:"spread of the flights' starts around the path, on each axis (standard deviation)"`
	LatentAge float64 `param:"latent_age" default:"0.1" min:"0.01" max:"10" unit:"s" doc:"age from which a latent is not used in the gate's flights, as policy_controller has it"`
	Filter    bool    `param:"state_filter" default:"true" doc:"candidates fly by the filter of poses in the gate's flights, as policy_controller does with state_filter"`
}
