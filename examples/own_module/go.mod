module example.org/own

go 1.26.0

require vnd v0.0.0

// Where vnd lies: ../vnd, once this folder stands beside it.
replace vnd => ../..
