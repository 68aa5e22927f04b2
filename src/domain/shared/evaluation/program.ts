import { readFile } from 'node:fs/promises';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * A program whose code is kept in memory. Its threads can then start even if the process may no longer read its files, since a process that
 * root started drops its privileges.
 */
export interface Program {
  /** The URL of its first module. */
  readonly entry: string;
  /** The result of each import, by the URL of the importing module and the imported name. */
  readonly resolutions: ReadonlyMap<string, { readonly url: string; readonly format?: string | null }>;
  /** The modules by URL. Those of Node itself are not kept. */
  readonly modules: ReadonlyMap<string, { readonly format: string; readonly source: string }>;
}

/** A thread runs this code before it loads the program, and then sends the modules that were loaded. */
const recording = `
const { registerHooks } = require('node:module');
const { readFileSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const [resolutions, modules] = [new Map(), new Map()];
registerHooks({
  resolve(specifier, context, next) {
    const { url, format } = next(specifier, context);
    resolutions.set(context.parentURL + ' ' + specifier, { url, format });
    return { url, format };
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:')) return loaded;
    const source = loaded.source ?? readFileSync(new URL(url));
    modules.set(url, { format: loaded.format, source: Buffer.from(source).toString() });
    return loaded;
  },
});
import(workerData).then(() => parentPort.postMessage({ entry: workerData, resolutions, modules }));
`;

/** A thread runs this code before it loads a program from memory. Modules that were not recorded are loaded as usual. */
const replaying = `
const { registerHooks } = require('node:module');
const { workerData } = require('node:worker_threads');
const { entry, resolutions, modules } = workerData;
registerHooks({
  resolve(specifier, context, next) {
    const known = specifier === entry ? { url: entry } : resolutions.get(context.parentURL + ' ' + specifier);
    return known ? { ...known, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    const known = modules.get(url);
    return known ? { ...known, shortCircuit: true } : next(url, context);
  },
});
import(entry);
`;

/**
 * Reads the code of a program. A built program is one file. Any other runs once in a thread, which shows what it loads: it must load without
 * receiving a message.
 */
export async function readProgram(entry: URL, options: WorkerOptions): Promise<Program> {
  if (!entry.pathname.endsWith('.js')) return recordProgram(entry, options);
  const source = await readFile(entry, 'utf8');
  return {
    entry: entry.href,
    resolutions: new Map(),
    modules: new Map([[entry.href, { format: 'module', source }]]),
  };
}

async function recordProgram(entry: URL, options: WorkerOptions): Promise<Program> {
  const worker = new Worker(recording, { ...options, eval: true, workerData: entry.href });
  const { promise, resolve, reject } = Promise.withResolvers<Program>();
  worker.once('message', resolve).once('error', reject);
  worker.once('exit', () => reject(new Error(`the program ${entry.href} ended while it was read`)));
  return promise.finally(() => worker.terminate());
}

/** Starts a thread of a program that was read before. */
export function startProgram(program: Program, options: WorkerOptions): Worker {
  return new Worker(replaying, { ...options, eval: true, workerData: program });
}
