package memory

// Lock is the store's lock, for the test that holds it in another process.
var Lock = lock
