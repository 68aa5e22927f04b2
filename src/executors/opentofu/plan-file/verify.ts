import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { readFile } from '#domain/sources/hcl/blocks.ts';
import type { ToolName } from '#domain/tools/model.ts';
import { asArray, parseJson } from '../../shared/json.ts';
import { readZipEntries, readZipEntry, type ZipEntry } from '../../shared/zip.ts';
import { readStateDocument } from '../state/state-document.ts';
import { type PlanOptions, verifyPlanMessage } from './plan-message.ts';
import { maxConfigurationBytes, readModules, type Snapshot } from './snapshot.ts';

/**
 * A plan file contains more than changes: the configuration that an apply uses, the backend, the variables and the state. Providers run
 * beside the tool that writes the file, and could exchange any of this. So all of it is compared with the attempt's inputs, after the plan
 * is made and again before it is applied.
 */

const planName = 'tfplan';
const stateName = 'tfstate';
const modulesName = 'tfconfig/modules.json';
const filePrefix = 'tfconfig/m-';
/** The previous state is only shown. The tool itself compares the lock file with that of the work directory. */
const otherNames = ['tfstate-prev', '.terraform.lock.hcl'];

const maxModulesBytes = 16 * 1024 * 1024;
const maxPlanBytes = 256 * 1024 * 1024;

/** The attempt's inputs. */
export interface PlanInputs {
  readonly snapshot: Snapshot;
  readonly tool: ToolName;
  readonly operation: RunOperation;
  readonly options: PlanOptions;
  readonly variables: Buffer;
  /** Whether the template's own files set a variable. */
  readonly isOwn: (variable: string) => boolean;
  /** The attempt's state; null if there is none, undefined if the tool itself compares it. */
  readonly state: Buffer | null | undefined;
}

/** @throws Error that says what differs from the attempt's inputs */
export async function verifyPlanFile(plan: Buffer, inputs: PlanInputs): Promise<void> {
  const entries = readZipEntries(plan);
  await verifyConfiguration(plan, entries, inputs.snapshot);
  const isDeclared = await readDeclared(inputs.snapshot);
  verifyPlanMessage(await read(plan, entries, planName, maxPlanBytes), { ...inputs, isDeclared });
  if (inputs.state !== undefined) verifyPriorState(await read(plan, entries, stateName, maxPlanBytes), inputs.state);
}

async function verifyConfiguration(
  plan: Buffer,
  entries: ReadonlyMap<string, ZipEntry>,
  { modules, filesOf }: Snapshot,
): Promise<void> {
  const listed = readModules(asArray(parseJson(await read(plan, entries, modulesName, maxModulesBytes))));
  if (!listed.has('')) throw new Error('it has no configuration');
  const expected = new Set([planName, stateName, modulesName, ...otherNames]);
  for (const [key, module] of listed) {
    const known = modules.get(key);
    const isKnown =
      known && (['source', 'version', 'directory'] as const).every((name) => known[name] === module[name]);
    if (!known || !isKnown) throw new Error(`it has another module "${key}"`);
    for (const [name, content] of await filesOf(known)) {
      const path = `${filePrefix}${key}/${name}`;
      expected.add(path);
      // At most as many bytes are unpacked as are expected.
      const found = await read(plan, entries, path, Math.min(content.length, maxConfigurationBytes));
      if (!found.equals(content)) throw new Error(`its file ${fileOf(module.directory, name)} is another one`);
    }
  }
  const added = [...entries.keys()].find((name) => !expected.has(name));
  if (added !== undefined) throw new Error(`it has another file ${added.slice(0, 300)}`);
}

/** Whether the root module declares a variable. If a file cannot be read, it may declare any. */
async function readDeclared({ modules, filesOf }: Snapshot): Promise<(variable: string) => boolean> {
  const root = modules.get('');
  const files = root ? [...(await filesOf(root))] : [];
  const read = files.map(([name, content]) => readFile({ name, text: content.toString() }));
  if (read.some(({ problem }) => problem !== null)) return () => true;
  const variables = read.flatMap(({ body }) => body.blocks.filter(({ type }) => type === 'variable'));
  const names = new Set(variables.flatMap(({ labels }) => labels));
  return (variable) => names.has(variable);
}

async function read(
  plan: Buffer,
  entries: ReadonlyMap<string, ZipEntry>,
  name: string,
  maximumBytes: number,
): Promise<Buffer> {
  const entry = entries.get(name);
  if (!entry) throw new Error(`it has no file ${name}`);
  return readZipEntry(plan, entry, maximumBytes);
}

function fileOf(directory: string, name: string): string {
  return directory === '.' ? name : `${directory}/${name}`;
}

/**
 * Compares the state in the plan, from which an apply continues, with the state that the tool got, refreshed.
 * @throws Error if it does not follow that state
 */
function verifyPriorState(prior: Buffer, given: Buffer | null): void {
  const found = readStateDocument(prior);
  const expected = given === null ? null : readStateDocument(given);
  const isEmpty = found.lineage === null && (found.serial ?? 0) === 0;
  // The tool decrypts a state only while it runs, and checks this itself.
  if (expected === null ? isEmpty : expected.isEncrypted) return;
  if (found.lineage !== expected?.lineage || found.serial !== expected?.serial) throw new Error('it has another state');
}
