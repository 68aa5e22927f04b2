/** What the main thread and an evaluation thread send each other. */

/** One piece of work. */
export interface Task {
  readonly kind: string;
  /** The input, without what the thread is to remember. */
  readonly input: unknown;
  /** What the thread is to remember, and the member of the input that it is; null if there is nothing. */
  readonly remembered: { readonly member: PropertyKey; readonly digest: string } | null;
}

/** A thread answers this task as soon as it can do others. */
export const startTask: Task = { kind: 'start', input: null, remembered: null };

/** `value` goes along the first time that a thread meets the digest of what it is to remember. */
export interface Message {
  readonly task: Task;
  readonly value: object | null;
}

export type Reply =
  | { readonly outcome: 'done'; readonly result: unknown; readonly usedMs: number }
  | { readonly outcome: 'value_missing' }
  | { readonly outcome: 'too_costly'; readonly usedMs: number }
  | { readonly outcome: 'failed'; readonly reason: string; readonly usedMs: number };

/** The variable of a thread's environment that says which priority it takes. */
export const priorityVariable = 'EVALUATION_PRIORITY';
