package gate

// Config is what a candidate must show. Differences are of candidate and current bundle in the same flights.
type Config struct {
	Shadow Shadow `param:"shadow" doc:"shadow: flights in the candidate's learned model"`
	Canary Canary `param:"canary" doc:"canary: flights of the judge, with disturbances drawn at random"`

	Tolerance  float64 `param:"tolerance" default:"0.001" min:"0" max:"10" unit:"m" doc:"by how much more a candidate may err on average and count as no worse"`
	Relative   float64 `param:"relative_tolerance" default:"0" min:"0" max:"1" doc:"the same as a share of the current bundle's error; the larger of the two counts"`
	Level      float64 `param:"level" default:"0.95" min:"0.5" max:"0.999" doc:"level of the bootstrap interval whose upper end must stay within the tolerance"`
	Resamples  int     `param:"resamples" default:"2000" min:"100" max:"100000" doc:"resamples of the bootstrap"`
	CrashError float64 `param:"crash_error" default:"4.0" min:"0.1" max:"100" unit:"m" doc:"what a crash counts as in a mean error, at least"`
	FirstError float64 `param:"first_error" default:"1.5" min:"0.01" max:"100" unit:"m" doc:"greatest mean error of a first bundle, which has none to be compared with"`
	Saturation float64 `param:"saturation" default:"0.6" min:"0.02" max:"60" unit:"s" doc:"longest time for which a command may stand at a limit, unless the current bundle's stands longer"`
	Rate       float64 `param:"rate" default:"32.0" min:"0.1" max:"1000" unit:"1/s" doc:"greatest RMS change of the commands in a flight, in half their ranges per second, unless the current bundle's change more"`
	Workers    int     `param:"workers" default:"0" min:"0" max:"256" doc:"threads; 0 takes all; the verdict does not depend on it"`
}

// Shadow sizes the shadow flights.
type Shadow struct {
	Flights   int     `param:"flights" default:"24" min:"2" max:"10000" doc:"pairs of flights"`
	Seconds   float64 `param:"seconds" default:"6.0" min:"0.5" max:"600" unit:"s" doc:"length of a flight"`
	Settle    float64 `param:"settle" default:"2.0" min:"0" max:"60" unit:"s" doc:"beginning of a flight, on the way from the start to the path, in which errors and changes of the commands do not count"`
	BankShare float64 `param:"bank_share" was:"bank" json:"Bank" default:"0.5" min:"0" max:"1" doc:"share of flights under a latent of the buffer, re-encoded; the others under a sample of the candidate's latent prior"`
}

// Canary sizes the canary flights, whose length is the judge's.
type Canary struct {
	Flights int     `param:"flights" default:"68" min:"2" max:"10000" doc:"pairs of flights"`
	Settle  float64 `param:"settle" default:"2.0" min:"0" max:"60" unit:"s" doc:"beginning of a flight in which errors and changes of the commands do not count"`
}
