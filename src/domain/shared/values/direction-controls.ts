/**
 * The control characters that change the reading direction of the following text, for a character class in a regular expression:
 * embeddings, overrides and isolates, with the characters that end them.
 */
export const directionControls = '\\u202a-\\u202e\\u2066-\\u2069';
