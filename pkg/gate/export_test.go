package gate

// Bad makes bad candidates, for tests that fly where this package may not look.
var Bad = bad
