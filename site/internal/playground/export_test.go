package playground

// Unwritten exports unwritten for tests.
const Unwritten = unwritten
