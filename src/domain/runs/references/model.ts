import { isInForce } from '#domain/shared/access/grant.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** An output of another instance that a run read, in the form that the run shows. */
export interface OutputRead {
  /** The variable that contains it. */
  readonly variable: string;
  /** The place in the value of the variable, as a JSON pointer; empty: the whole value. */
  readonly path: string;
  /** The reference as it was written. */
  readonly reference: string;
  readonly instanceId: string;
  /** The name of the instance at that time: `<project>/<environment>/<name>`. */
  readonly instance: string;
  readonly output: string;
  readonly sensitive: boolean;
  /** The state of the instance at that time, and the run that had deployed it. */
  readonly stateSerial: number;
  readonly runId: string | null;
  readonly readAt: string;
  /** Whether the run took the value from another run that had read it. */
  readonly copied: boolean;
}

/** An `OutputRead` with its value, as it is sealed in the inputs of the run. */
export interface SealedRead extends OutputRead {
  readonly value: JsonValue;
}

/** The place of a read of all outputs of an instance, which a data source gets as a state. */
export function stateRead(dataSource: string) {
  return { variable: `${ofDataSources}${dataSource}`, path: '', output: allOutputs } as const;
}

/** The data source for which a read provided the state; null: the read put one output into a variable. */
export function dataSourceOf({ variable, path, output }: Place): string | null {
  const isState = output === allOutputs && path === '' && variable.startsWith(ofDataSources);
  return isState ? variable.slice(ofDataSources.length) : null;
}

type Place = Pick<OutputRead, 'variable' | 'path' | 'output'>;
/** It means all outputs. No output can have this name. */
const allOutputs = '*';
const ofDataSources = 'data.terraform_remote_state.';

/** The states that data sources `terraform_remote_state` read, as JSON, by the names of the data sources. They contain only outputs. */
export type RemoteStates = Readonly<Record<string, string>>;

export function showReads(reads: readonly SealedRead[]): OutputRead[] {
  return reads.map(({ value: _, ...shown }) => shown);
}

export function copyReads(reads: readonly SealedRead[] | undefined): SealedRead[] {
  return (reads ?? []).map((read) => ({ ...read, copied: true }));
}

/** The place of a run that reads outputs. */
export interface ReadingPlace {
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

/** An instance that may be read, with its owners and the readers that were allowed for them. */
export interface Readable {
  readonly organizationId: string;
  readonly teamId: string;
  readonly readerTeamIds: readonly string[];
  readonly readerEnvironmentIds: readonly string[];
  readonly readersTeamId: string | null;
  readonly readersOrganizationId: string | null;
  /** When a transfer voided them; null: none did. */
  readonly readersVoidSince: string | null;
}

/** Whether runs of a place may read the outputs of an instance: the present owners of the instance have allowed it. */
export function isReader(instance: Readable, place: ReadingPlace): boolean {
  if (instance.organizationId !== place.organizationId) return false;
  const savedFor = { teamId: instance.readersTeamId, organizationId: instance.readersOrganizationId };
  if (!isInForce({ savedFor, voidSince: instance.readersVoidSince }, instance)) return false;
  const { environmentId } = place;
  const byTeam = place.teamId !== null && instance.readerTeamIds.includes(place.teamId);
  return byTeam || (environmentId !== null && instance.readerEnvironmentIds.includes(environmentId));
}
