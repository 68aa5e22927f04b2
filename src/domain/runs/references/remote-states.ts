import type { Em } from '#database/database.ts';
import { withSecrets } from '#domain/instances/secret-outputs.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { isReader, type ReadingPlace, type RemoteStates, type SealedRead, stateRead } from './model.ts';
import type { SourceOutputs, StateOutputs } from './source-outputs.ts';
import { findSources, type Source, type SourceName } from './sources-store.ts';

/** The maximum size in bytes of all states of one run together. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Reads the outputs of the instances that `remote_states` of a version names.
 * @throws Unprocessable `reference_unresolved` for an instance that the place may not read, that is not deployed, or whose state would
 * exceed the common limit
 */
export async function resolveRemoteStates(
  em: Em,
  opened: SourceOutputs,
  place: ReadingPlace,
  wanted: Readonly<Record<string, string>>,
): Promise<{ readonly states: RemoteStates; readonly reads: SealedRead[] }> {
  const states: Record<string, string> = {};
  const reads: SealedRead[] = [];
  for (const [name, reference] of Object.entries(wanted)) {
    const source = await findReadable(em, place, reference);
    if (typeof source === 'string') throw refusal(name, reference, source);
    if (source.isDestroyed || (source.deployedRunId === null && source.stateSerial === 0))
      throw refusal(name, reference, 'the instance is not deployed, so it has no outputs');
    const [outputs, written] = [await opened.open(source), await opened.openState(source)];
    if (outputs === null || written === null)
      throw refusal(name, reference, 'what the run reads of instances is too large together');
    const secret = [...written].filter(([, output]) => output['sensitive'] === true).map(([output]) => output);
    const known = withSecrets(outputs, secret);
    states[name] = JSON.stringify(toState(source, known, written));
    reads.push(toRead(name, reference, source, known));
  }
  const bytes = Object.values(states).reduce((sum, state) => sum + Buffer.byteLength(state), 0);
  if (bytes > maxBytes) throw refusal('', '', `the outputs have more than ${maxBytes / 1024 / 1024} MiB together`);
  return { states, reads };
}

function refusal(name: string, reference: string, problem: string): Unprocessable {
  const what = name === '' ? '' : `.${name}: ${reference}`;
  return new Unprocessable(`remote_states${what}: ${problem}`, { code: 'reference_unresolved' });
}

const unreadable =
  'there is no such instance that this run may read; the owner of an instance says which environments and teams read its outputs';

async function findReadable(em: Em, place: ReadingPlace, reference: string): Promise<Source | string> {
  const { organizationId } = place;
  if (organizationId === null) return unreadable;
  const found = await findSources(em, { ...place, organizationId }, [toName(reference)]);
  const [source, ...others] = found.filter((each) => isReader(each, place));
  if (!source) return unreadable;
  return others.length === 0 ? source : 'several projects of the organization have that name: give one another name';
}

/** `<name>` in the environment of the run, `<environment>/<name>` in its project, or `<project>/<environment>/<name>`. */
function toName(reference: string): SourceName {
  const [instance = '', environment = null, project = null] = reference.split('/').reverse();
  return { project, environment, instance };
}

function toRead(name: string, reference: string, source: Source, outputs: MaskedOutputs): SealedRead {
  const { id: instanceId, stateSerial, deployedRunId: runId } = source;
  const instance = `${source.project}/${source.environment}/${source.name}`;
  const sensitive = Object.values(outputs).some((output) => output.sensitive);
  const from = { instanceId, instance, sensitive, stateSerial, runId };
  return {
    ...stateRead(name),
    reference,
    ...from,
    readAt: new Date().toISOString(),
    copied: false,
    value: valuesOf(outputs),
  };
}

export function valuesOf(outputs: MaskedOutputs): JsonValue {
  return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
}

/** The tools leave outputs that are null out of their states. */
function toState(source: Source, outputs: MaskedOutputs, known: StateOutputs) {
  const present = Object.entries(outputs).flatMap(([name, output]) => {
    const own = known.get(name);
    const value = own ? (own['value'] ?? null) : output.value;
    const isPartial = !own && (output.unrepresentable ?? []).length > 0;
    if (value === null || isPartial) return [];
    const type = own?.['type'] ?? typeOf(value);
    return [[name, { value, type, ...(output.sensitive && { sensitive: true }) }] as const];
  });
  const head = { version: 4, terraform_version: '1.0.0', serial: 1, lineage: source.id };
  return { ...head, outputs: Object.fromEntries(present), resources: [] };
}

/** The type that the tools would infer for a value, as states write types. */
function typeOf(value: JsonValue): JsonValue {
  if (value === null) return 'dynamic';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return ['tuple', value.map(typeOf)];
  if (!isJsonObject(value)) return 'number';
  return ['object', Object.fromEntries(Object.entries(value).map(([name, member]) => [name, typeOf(member)]))];
}
