module vnd/rclgo

go 1.26.0

require (
	github.com/tiiuae/rclgo v0.0.0-20240131135202-56b24e11219b
	vnd v0.0.0
)

require github.com/google/go-cmp v0.7.0 // indirect

replace vnd => ../
