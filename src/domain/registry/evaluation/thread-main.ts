import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { answerForAssembly, isOfAssembly } from '#domain/assemblies/evaluation/answers.ts';
import { checkSchema } from '../variables/check.ts';
import type { JsonObject } from '../variables/engine.ts';
import { TimeLimitExceeded } from '../variables/time-limit.ts';
import { validateVariables } from '../variables/variables.ts';
import type { Message, Reply, Task } from './messages.ts';

/** The program of an evaluation thread: it answers one message after another. */

const mostSchemas = 100;
const schemas = new Map<string, JsonObject>();

lowerPriority();
parentPort?.on('message', async (message: Message) => parentPort?.postMessage(await answer(message)));

/** Gives this thread a low priority, so that it hardly delays the main thread and the database on a busy machine. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL);
}

async function answer({ task, schema }: Message): Promise<Reply> {
  if (schema && task.kind === 'validate') remember(task.digest, schema);
  if (task.kind === 'validate' && !schemas.has(task.digest)) return { outcome: 'schema_missing' };
  const before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  try {
    return { outcome: 'done', result: await evaluate(task), usedMs: usedMs() };
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return { outcome: 'too_costly', usedMs: usedMs() };
    // The message of an error could repeat a secret of the input.
    return { outcome: 'failed', reason: error instanceof Error ? error.name : 'unknown', usedMs: usedMs() };
  }
}

async function evaluate(task: Task) {
  if (isOfAssembly(task)) return answerForAssembly(task);
  if (task.kind === 'check') return checkSchema(task.schema);
  const schema = schemas.get(task.digest);
  if (!schema) throw new Error('the thread has lost the schema');
  remember(task.digest, schema);
  return validateVariables(schema, task.input, task.secrets);
}

/** Keeps the schemas that were used last. Each keeps its compiled form. */
function remember(digest: string, schema: JsonObject): void {
  const known = schemas.get(digest) ?? schema;
  schemas.delete(digest);
  schemas.set(digest, known);
  for (const oldest of schemas.keys()) {
    if (schemas.size <= mostSchemas) break;
    schemas.delete(oldest);
  }
}
