package actor

// OneChange is what the log takes for a revision in which one element changed, in bytes.
const OneChange = stepBytes + spliceBytes + elementBytes
