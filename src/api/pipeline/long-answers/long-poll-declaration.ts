/** How a read waits until its answer differs from what the client has. */
export interface LongPoll<Call, Query> {
  /** How long a request waits at most, in milliseconds; 0: it is answered at once. */
  readonly longestMs: (query: Query) => number;
  /** Begins to wait. The function resolves to true as soon as there is something new, and to false when its signal aborts. */
  readonly begin: (call: Call) => (signal: AbortSignal) => Promise<boolean>;
}
