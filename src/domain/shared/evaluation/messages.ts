/** The messages between the main thread and an evaluation thread. */

/** One piece of work. */
export interface Task {
  readonly kind: string;
  /** The input without the member that the thread remembers. */
  readonly input: unknown;
  /** The member of the input that the thread remembers, and the digest of its value; null if there is none. */
  readonly remembered: { readonly member: PropertyKey; readonly digest: string } | null;
}

/** `value` is the remembered value; it is sent only the first time that a thread meets its digest. */
export interface Message {
  readonly task: Task;
  readonly value: object | null;
}

export type Reply =
  | { readonly outcome: 'done'; readonly result: unknown; readonly usedMs: number }
  | { readonly outcome: 'value_missing' }
  | { readonly outcome: 'too_costly'; readonly usedMs: number }
  | { readonly outcome: 'failed'; readonly reason: string; readonly usedMs: number };

/** The environment variable of a thread with the priority that it sets for itself. */
export const priorityVariable = 'EVALUATION_PRIORITY';
