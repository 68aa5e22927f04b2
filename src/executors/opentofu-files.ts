import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemplateFiles } from '#domain/registry/files.ts';
import type { JsonValue } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/canonical.ts';
import { sha256 } from './artifact.ts';
import { AttemptFailure, messageOf } from './attempt-error.ts';
import { hasTerraformBlock, hasTerraformMember } from './hcl-blocks.ts';
import type { OpenTofuExecutor } from './protocol.ts';
import { isObject } from './state-document.ts';
import {
  layOutFiles,
  measureDirectory,
  parseJson,
  readUntrusted,
  removeDirectory,
  writePrivate,
} from './work-files.ts';

/** What lies in the directory of an OpenTofu attempt beside the template's files. */

/** Read after all other override files, so that this one decides. */
const backendFile = 'zzzz_coordinator_override.tf';
const backendText = 'terraform {\n  backend "http" {}\n}\n';
const lockFile = '.terraform.lock.hcl';
const backendRecord = join('.terraform', 'terraform.tfstate');

const largestPlan = 256 * 1024 * 1024;
const largestRecord = 1024 * 1024;
const largestKept = 16 * 1024 * 1024;
/** What `init` leaves for a configuration without providers and modules; anything more is fetched again. */
const largestCarried = 64 * 1024;

/** The directory of the root module. */
export function rootModule(work: string, { directory = '' }: OpenTofuExecutor): string {
  return join(work, directory);
}

export function digestSources({ files, directory = '' }: OpenTofuExecutor): string {
  return sha256(canonicalJson({ files, directory }));
}

/** Lays out the configuration with the service's own backend. @throws AttemptFailure */
export async function layOutConfiguration(work: string, executor: OpenTofuExecutor): Promise<void> {
  refuseBackends(executor);
  await layOutFiles(work, executor.files);
  await writePrivate(join(rootModule(work, executor), backendFile), backendText).catch((cause: unknown) => {
    throw new AttemptFailure('files_invalid', `the template has no directory "${executor.directory}"`, { cause });
  });
}

function refuseBackends({ files, directory = '' }: OpenTofuExecutor): void {
  for (const [path, text] of Object.entries(topFiles(files, directory))) {
    const isJson = path.endsWith('.json');
    if (path === backendFile) throw new AttemptFailure('files_invalid', `the name "${path}" is kept for the service`);
    const isChosen = isJson
      ? hasTerraformMember(text, ['backend', 'cloud'])
      : hasTerraformBlock(text, ['backend', 'cloud']);
    if (isChosen) {
      const message = `${path} has a "backend" or "cloud" block: remove it, the service keeps the state itself`;
      throw new AttemptFailure('backend_forbidden', message);
    }
  }
}

/** Configuration files right in the root module, by name. */
function topFiles(files: TemplateFiles, directory: string): Record<string, string> {
  const prefix = directory === '' ? '' : `${directory}/`;
  const found: Record<string, string> = {};
  for (const [path, content] of Object.entries(files)) {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '/';
    if (name.includes('/') || !/\.(tf|tofu)(\.json)?$/.test(name)) continue;
    found[name] = typeof content === 'string' ? content : Buffer.from(content.base64, 'base64').toString();
  }
  return found;
}

/** Asks the tool's own record which backend it took. @throws AttemptFailure `backend_forbidden` */
export async function verifyBackend(module: string): Promise<void> {
  const record = await readRecord(module).catch(() => null);
  if (record !== null && isServiceBackend(record)) return;
  const message = 'the configuration leads to a backend other than the one of the service: remove it';
  throw new AttemptFailure('backend_forbidden', message);
}

async function readRecord(module: string): Promise<JsonValue> {
  const content = await readUntrusted(join(module, backendRecord), largestRecord);
  return content === null ? null : (parseJson(content) as JsonValue);
}

/** Of type `http`, with nothing configured: everything else comes by the environment. */
function isServiceBackend(record: JsonValue): boolean {
  const backend = isObject(record) ? record['backend'] : undefined;
  if (!isObject(backend) || backend['type'] !== 'http' || !isObject(backend['config'])) return false;
  return Object.values(backend['config']).every((value) => value === null);
}

/** Where the tool finds what it works with. */
export interface PlanPlaces {
  /** The directory of the root module. */
  readonly module: string;
  readonly planFile: string;
  readonly variablesFile: string;
}

/** What an apply needs: the plan, its variables, the lock file, and what `init` made where that is next to nothing. */
export async function collectPlan(places: PlanPlaces): Promise<Map<string, Buffer>> {
  const { module, planFile, variablesFile } = places;
  const plan = await readUntrusted(planFile, largestPlan).catch((error: unknown) => {
    throw new AttemptFailure('plan_invalid', `the plan file cannot be kept: ${messageOf(error)}`);
  });
  if (plan === null) throw new AttemptFailure('plan_missing', 'the tool left no plan file');
  const files = new Map([['plan', plan]]);
  const keep = async (name: string, path: string): Promise<boolean> => {
    const content = await readUntrusted(path, largestKept).catch(() => null);
    if (content !== null) files.set(name, content);
    return content !== null;
  };
  await keep('variables', variablesFile);
  await keep('lock', join(module, lockFile));
  if (await isSelfContained(module)) await keep('record', join(module, backendRecord));
  return files;
}

/** Whether an initialized configuration needs no provider, and no module from elsewhere: the tool works on it alone. */
export async function isSelfContained(module: string): Promise<boolean> {
  const lock = await lstat(join(module, lockFile)).catch(() => null);
  return lock === null && (await measureDirectory(join(module, '.terraform'))) <= largestCarried;
}

/** Puts a plan's files where the tool looks for them. Answers whether that is all that `init` would do. */
export async function restorePlan(places: PlanPlaces, files: ReadonlyMap<string, Buffer>): Promise<boolean> {
  const { module, planFile, variablesFile } = places;
  const record = join(module, backendRecord);
  const targets = { plan: planFile, variables: variablesFile, lock: join(module, lockFile), record };
  await removeDirectory(dirname(record));
  for (const [name, target] of Object.entries(targets)) {
    const content = files.get(name);
    if (content === undefined) continue;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writePrivate(target, content);
  }
  return files.has('record');
}
