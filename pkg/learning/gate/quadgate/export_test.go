package quadgate

// Bad makes bad candidates, for tests that fly where this package may not look. That of Collapsed wants a bundle with a
// model.
var Bad = bad

const Collapsed = collapsed
