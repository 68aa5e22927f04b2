import type { Em } from '#database/database.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { type InstanceReference, readReference, replaceTexts } from '../../variables/reference-syntax.ts';
import { isReader, type ReadingPlace, type SealedRead } from './model.ts';
import type { SourceOutputs } from './source-outputs.ts';
import { findSources, type Source } from './sources-store.ts';

/** Variables after their references were replaced by outputs. */
export interface ResolvedReferences {
  readonly variables: Record<string, JsonValue>;
  /** The variables that contain a secret output. */
  readonly sensitive: string[];
  readonly reads: SealedRead[];
}

/** How many outputs a run may read. `SourceOutputs` limits how large they may be. */
const maxReferences = 200;

/** A reference and its place in the variables. */
interface Placed extends InstanceReference {
  readonly variable: string;
  readonly path: string;
}

/** What is wrong at a place in the variables. */
interface ReferenceProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * Replaces the references in variables by the present outputs of instances whose owners let the place read them. The caller must pass only
 * variables that the requester or the environment wrote: other text that looks like a reference must not be resolved.
 * @throws Unprocessable `reference_unresolved` naming everything that is wrong. Whether there is an instance that the place may not read
 * stays hidden
 */
export async function resolveReferences(
  em: Em,
  opened: SourceOutputs,
  place: ReadingPlace,
  written: Readonly<Record<string, JsonValue>>,
): Promise<ResolvedReferences> {
  const { references, problems } = collect(written);
  if (references.length > maxReferences) refuse([{ path: '', message: `has more than ${maxReferences} references` }]);
  const sources = await readSources(em, opened, place, references);
  const reads = new Map<string, SealedRead>();
  for (const reference of references) {
    const read = readOutput(reference, place, sources);
    if ('problem' in read)
      problems.push({ path: pointerOf(reference), message: `refers to ${reference.text}: ${read.problem}` });
    else reads.set(pointerOf(reference), read);
  }
  if (problems.length > 0) refuse(problems);
  return { variables: fillIn(written, reads), sensitive: secretsOf(reads), reads: [...reads.values()] };
}

/**
 * The places of references, as JSON pointers, and the errors in their syntax. Whether their outputs exist depends on the place of the run.
 */
export function locateReferences(written: Readonly<Record<string, JsonValue>>): {
  readonly places: ReadonlySet<string>;
  readonly problems: readonly ReferenceProblem[];
} {
  const { references, problems } = collect(written);
  return { places: new Set(references.map(pointerOf)), problems: limitProblems(problems) };
}

function pointerOf({ variable, path }: { readonly variable: string; readonly path: string }): string {
  return `/${variable.replaceAll('~', '~0').replaceAll('/', '~1')}${path}`;
}

function collect(written: Readonly<Record<string, JsonValue>>) {
  const references: Placed[] = [];
  const problems: ReferenceProblem[] = [];
  for (const [variable, value] of Object.entries(written)) {
    replaceTexts(value, ({ pointer: path, text }) => {
      const read = readReference(text);
      if (read && 'problem' in read) problems.push({ path: pointerOf({ variable, path }), message: read.problem });
      else if (read && 'output' in read) references.push({ ...read, variable, path });
      return text;
    });
  }
  return { references, problems };
}

function fillIn(written: Readonly<Record<string, JsonValue>>, reads: ReadonlyMap<string, SealedRead>) {
  const filled = Object.entries(written).map(([variable, value]) => {
    const replaced = replaceTexts(value, ({ pointer: path, text }) => {
      const read = reads.get(pointerOf({ variable, path }));
      if (read) return read.value;
      const escaped = readReference(text);
      return escaped && 'escaped' in escaped ? escaped.escaped : text;
    });
    return [variable, replaced] as const;
  });
  return Object.fromEntries(filled);
}

function secretsOf(reads: ReadonlyMap<string, SealedRead>): string[] {
  const secret = [...reads.values()].filter(({ sensitive }) => sensitive);
  return [...new Set(secret.map(({ variable }) => variable))];
}

/** An instance that the place may read, with its outputs; null: it is destroyed, so it has none. */
interface OpenSource {
  readonly source: Source;
  readonly outputs: MaskedOutputs | null;
}

async function readSources(em: Em, opened: SourceOutputs, place: ReadingPlace, references: readonly Placed[]) {
  const { organizationId } = place;
  if (organizationId === null) return [];
  const names = new Map(references.map((each) => [nameOf(each), each]));
  const found = await findSources(em, { ...place, organizationId }, [...names.values()]);
  const readable = found.filter((source) => isReader(source, place));
  const sources: OpenSource[] = [];
  for (const source of readable) {
    const outputs = source.isDestroyed ? null : await opened.open(source);
    if (outputs === null && !source.isDestroyed)
      refuse([{ path: '', message: 'refers to instances whose outputs are too large together' }]);
    sources.push({ source, outputs });
  }
  return sources;
}

function nameOf({ project, environment, instance }: InstanceReference): string {
  return [project ?? '', environment, instance].join('/');
}

const unreadable =
  'there is no such instance that this run may read; the owner of an instance says which environments and teams read its outputs';

function readOutput(
  reference: Placed,
  place: ReadingPlace,
  sources: readonly OpenSource[],
): SealedRead | { readonly problem: string } {
  const named = sources.filter(({ source }) => isNamed(source, reference, place));
  const [found, ...others] = named;
  if (!found) return { problem: unreadable };
  if (others.length > 0)
    return { problem: 'several projects of the organization have that name: give one another name' };
  const { source, outputs } = found;
  const { output: name, variable, path, text } = reference;
  const instance = `${source.project}/${source.environment}/${source.name}`;
  if (outputs === null || (source.deployedRunId === null && source.stateSerial === 0))
    return { problem: `the instance ${instance} is not deployed, so it has no outputs` };
  const output = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  // The reader of this message may lack access to the instance, so it names no other output.
  if (!output) return { problem: `the instance ${instance} has no output "${name}"` };
  if ((output.unrepresentable ?? []).length > 0)
    return { problem: `the output "${name}" of ${instance} holds what the service cannot store` };
  const { id: instanceId, stateSerial, deployedRunId: runId } = source;
  const from = { instanceId, instance, output: name, sensitive: output.sensitive, stateSerial, runId };
  return {
    variable,
    path,
    reference: text,
    ...from,
    readAt: new Date().toISOString(),
    copied: false,
    value: output.value,
  };
}

function isNamed(source: Source, { project, environment, instance }: InstanceReference, place: ReadingPlace): boolean {
  const isProject = project === null ? source.projectId === place.projectId : source.project === project;
  return isProject && source.environment === environment && source.name === instance;
}

/** The maximum number of problems in one answer. */
const maxProblems = 100;

function limitProblems(problems: readonly ReferenceProblem[]): ReferenceProblem[] {
  const others = problems.length - maxProblems;
  const named = problems.slice(0, maxProblems);
  return others > 0 ? [...named, { path: '', message: `has ${others} more errors` }] : named;
}

function refuse(problems: readonly ReferenceProblem[]): never {
  const errors = limitProblems(problems);
  const message = `variables: ${errors.map((error) => `${error.path || '/'} ${error.message}`).join('; ')}`;
  throw new Unprocessable(message, { code: 'reference_unresolved', details: { errors } });
}
