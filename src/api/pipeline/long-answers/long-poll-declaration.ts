/** How a read waits until its answer differs from what the client has. */
export interface LongPoll<Call, Query> {
  /** The longest time that a request waits, in milliseconds. 0: it is answered at once. */
  readonly longestMs: (query: Query) => number;
  /** Starts to wait. The returned function resolves to true when the answer has changed, and to false when its signal aborts. */
  readonly begin: (call: Call) => (signal: AbortSignal) => Promise<boolean>;
}
