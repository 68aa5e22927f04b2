/**
 * The controls that turn the direction in which the text behind them is read, for a class of characters in a regular expression: the embeddings and
 * overrides with their end, and the isolates with theirs.
 */
export const directionControls = '\\u202a-\\u202e\\u2066-\\u2069';
