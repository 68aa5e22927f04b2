import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('bundle-main.ts', import.meta.url));

const entry = join(root, 'src/workflows/index.ts');

/** The workflows as one script, without modules that reach files, the network or other processes. */
export function bundleWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: entry,
    logger: { trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error, log() {} },
  });
}

/**
 * Like `bundleWorkflows`, but cached between starts under the digest of its sources, because bundling takes a third of a worker's start.
 * @param directory must be writable only for this user, because code is loaded from it
 */
export async function cachedWorkflowBundle(directory: string): Promise<{ code: string }> {
  const path = join(directory, `workflows-${digestOfSources()}.js`);
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) return { code: kept };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomUUID()}`;
  await bundleInChild(unfinished);
  await rename(unfinished, path);
  return { code: await readFile(path, 'utf8') };
}

/** Bundles in another process. Bundling takes 100 MiB, which this process would never release. */
async function bundleInChild(path: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, ['--disable-sigusr1', program, path], { cwd: root });
  } catch (cause) {
    throw new Error('the workflows could not be bundled', { cause });
  }
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  const add = (name: string, path: string) => hash.update(`${name}\0`).update(readFileSync(path)).update('\0');
  for (const path of bundledSources()) add(relative(root, path), path);
  // Their manifests name the exact versions of what they bring. An installed service has no lock file.
  for (const name of ['@temporalio/worker/package.json', '@temporalio/workflow/package.json'])
    add(name, createRequire(entry).resolve(name));
  return hash.digest('hex').slice(0, 32);
}

const typeImport = /^import type [^;]*;$/gm;
const importedPath = /(?:\bfrom|^import) '([^']+)'/gm;

/** The files of the project that a bundle contains: the workflows and whatever they import, however indirectly, in a fixed order. */
export function bundledSources(): string[] {
  const found = new Set([entry]);
  for (const path of found) {
    const { resolve } = createRequire(path);
    const code = readFileSync(path, 'utf8').replaceAll(typeImport, '');
    for (const [, specifier = ''] of code.matchAll(importedPath)) {
      // The versions of packages are in the key, too.
      if (/^[.#]/.test(specifier) && extname(specifier) === '.ts') found.add(resolve(specifier));
    }
  }
  return [...found].sort();
}
