/**
 * The position of a reader of the events of many subjects. Neither numbers nor times can express it: a transaction that was open while the
 * reader read may hold a lower number than the last one read, and commit later. So a cursor contains a snapshot of PostgreSQL, which
 * defines exactly which transactions the reader has seen. The next page contains the events of all others. A long transaction delays
 * nothing but its own events. Readers of one subject need no cursor: its numbers ascend in the order of the commits (`listEventsOf`).
 *
 * A cursor is for readers who come back soon, such as live pages. After a dump was restored into another server, the events in it carry ids
 * of transactions of the old server, so events from long before the cursor are left out.
 */
export interface EventCursor {
  /** The snapshot whose events have all been read. */
  readonly seen: string;
  /** Set while the reader pages through the events up to the snapshot `until`; it has read those up to `position`. */
  readonly paging: { readonly until: string; readonly position: string } | null;
  /** When the reader began, as PostgreSQL's text. */
  readonly since: string;
}
