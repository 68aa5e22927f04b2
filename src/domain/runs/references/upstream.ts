import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { openInputs } from '../admission/inputs/inputs.ts';
import { findReadingDeployment } from './dependents-store.ts';
import { dataSourceOf, isReader, type OutputRead, type SealedRead } from './model.ts';
import { findReadingPlace } from './recheck.ts';
import { valuesOf } from './remote-states.ts';
import { SourceOutputs } from './source-outputs.ts';
import { findSourcesById } from './sources-store.ts';

/**
 * How an output that an instance was deployed with compares with the present output of its source. `ended`: the owner no longer allows the
 * read, or the source instance is deleted or destroyed. `missing`: the source instance no longer has such an output. `unknown`: it was not
 * compared, because all outputs that the instance reads are too large together, or because the earlier values were deleted with their run.
 */
export const upstreamStates = ['unchanged', 'changed', 'missing', 'ended', 'unknown'] as const;
export type UpstreamState = (typeof upstreamStates)[number];

export interface UpstreamRead extends OutputRead {
  readonly upstream: UpstreamState;
}

/** The outputs that an instance was deployed with, each with its present state. Values are not returned. */
export async function readUpstream(em: Em, keyRing: KeyRing, instanceId: string): Promise<UpstreamRead[]> {
  const deployed = await findReadingDeployment(em, instanceId);
  if (!deployed?.reads) return [];
  const place = await findReadingPlace(em, deployed);
  const sources = await findSourcesById(em, [...new Set(deployed.reads.map((read) => read.instanceId))], false);
  const readable = sources.filter((source) => isReader(source, place) && !source.isDestroyed);
  const opened = new SourceOutputs(em, keyRing);
  const present = new Map<string, MaskedOutputs | null>();
  for (const source of readable) present.set(source.id, await opened.open(source));
  const sealed =
    deployed.sealedInputs.length > 0 ? openInputs(keyRing, deployed.runId, deployed.sealedInputs).reads : [];
  return deployed.reads.map((read) => ({ ...read, upstream: compare(read, sealed ?? [], present) }));
}

function compare(
  read: OutputRead,
  sealed: readonly SealedRead[],
  present: ReadonlyMap<string, MaskedOutputs | null>,
): UpstreamState {
  const outputs = present.get(read.instanceId);
  if (outputs === undefined) return 'ended';
  if (outputs === null) return 'unknown';
  const whole = { value: valuesOf(outputs) };
  const output =
    dataSourceOf(read) !== null ? whole : Object.hasOwn(outputs, read.output) ? outputs[read.output] : undefined;
  if (!output) return 'missing';
  const given = sealed.find(({ variable, path }) => variable === read.variable && path === read.path);
  if (!given) return 'unknown';
  return isDeepStrictEqual(given.value, output.value) ? 'unchanged' : 'changed';
}
