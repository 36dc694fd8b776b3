package playground

// Unwritten is the response when no other can be written.
const Unwritten = unwritten
