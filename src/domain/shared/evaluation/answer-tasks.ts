import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Message, priorityVariable, type Reply, type Task } from './messages.ts';
import { runWithin, TimeLimitExceeded } from './time-limit.ts';
import type { AnyWork } from './work.ts';

const maxRemembered = 100;

/** Makes this thread answer one task after another, each by the work of its kind. */
export function answerTasks(known: readonly AnyWork[]): void {
  takePriority();
  const works = new Map(known.map((work) => [work.kind, work]));
  const memory = new Map<string, object>();
  parentPort?.on('message', async (message: Message) => parentPort?.postMessage(await answer(works, memory, message)));
}

/** Gives this thread the priority that it was started with. */
function takePriority(): void {
  const priority = process.env[priorityVariable];
  if (priority === undefined || process.platform !== 'linux') return;
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  setPriority(threadId, Number(priority));
}

async function answer(
  works: ReadonlyMap<string, AnyWork>,
  memory: Map<string, object>,
  { task, value }: Message,
): Promise<Reply> {
  const { remembered } = task;
  if (remembered && !remember(memory, remembered.digest, value)) return { outcome: 'value_missing' };
  const before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  try {
    return { outcome: 'done', result: await evaluate(works.get(task.kind), toInput(memory, task)), usedMs: usedMs() };
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return { outcome: 'too_costly', usedMs: usedMs() };
    // The message of an error could repeat a secret of the input.
    return { outcome: 'failed', reason: error instanceof Error ? error.name : 'unknown', usedMs: usedMs() };
  }
}

async function evaluate(work: AnyWork | undefined, input: unknown): Promise<unknown> {
  if (!work) throw new Error('no such work is declared');
  const prepared = await work.prepare?.();
  const run = () => work.answer(input as never, prepared as never);
  return work.limitMs === null ? run() : runWithin(work.limitMs, run);
}

function toInput(memory: ReadonlyMap<string, object>, { input, remembered }: Task): unknown {
  if (!remembered) return input;
  return { ...(input as object), [remembered.member]: memory.get(remembered.digest) };
}

/**
 * Keeps the most recently used values. Each stays the same object, so that its reader can attach computed data to it. Returns false if the
 * thread does not know the value.
 */
function remember(memory: Map<string, object>, digest: string, value: object | null): boolean {
  const known = memory.get(digest) ?? value;
  if (known === null) return false;
  memory.delete(digest);
  memory.set(digest, known);
  for (const oldest of memory.keys()) {
    if (memory.size <= maxRemembered) break;
    memory.delete(oldest);
  }
  return true;
}
