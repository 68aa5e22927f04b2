import {
  alternativesOf,
  type Bound,
  type BoundSource,
  canBeMet,
  contradictionIn,
  joinRanges,
  type Obeying,
  obeys,
  rangesOf,
} from './bounds.ts';
import { type ToolName, toolNames, type VersionedTool, type WantedTool } from './model.ts';
import { compareVersions, isInRanges } from './ranges.ts';

/** Which tools a run may use: by its template version, its files, its environment and its instance. Pure. */

/** The tools that may be used, each with what limits its versions. A tool that is missing may not be used. */
export type ToolDemand = { readonly [Name in ToolName]?: readonly Bound[] };

/** What the files of a template say (`readFilesTools`). */
export interface FilesTools {
  /** Whether there are files that only OpenTofu reads, and that stand for no file that Terraform reads. */
  readonly needsOpenTofu: boolean;
  /** The ranges of `required_version`, by the tool that reads them; of OpenTofu, by its versions before 1.12. */
  readonly required: { readonly [Name in ToolName]: readonly string[] };
  /** The ranges that OpenTofu reads from 1.12 on: those of its own files and of `language` blocks. Undefined: as before 1.12. */
  readonly requiredSince12?: readonly string[];
}

/** Files that leave the tool open. */
export const noDemands: FilesTools = { needsOpenTofu: false, required: { opentofu: [], terraform: [] } };

/** The tool that wrote the state of an instance. */
export interface StateWriter {
  readonly name: string;
  /** Null: it is not known. */
  readonly version: string | null;
}

export interface DemandSources {
  readonly files: FilesTools;
  readonly wanted: readonly { readonly by: BoundSource; readonly tool: WantedTool | null | undefined }[];
  /** Null: nothing is deployed, or the run is there to change the tool. */
  readonly writer: StateWriter | null;
}

/** Why no tool can ever fit. */
export interface EmptyDemand {
  readonly conflict: string;
}

/** The tools that fit everything that is asked for. */
export function intersectDemand({ files, wanted, writer }: DemandSources): ToolDemand | EmptyDemand {
  const named = wanted.flatMap(({ by, tool }) => (tool ? [{ by, ...tool }] : []));
  const isNamedByTemplate = named.some(({ by }) => by === 'template');
  const names = [
    ...named.map(({ by, name }) => ({ by, name: name as string })),
    ...(files.needsOpenTofu && !isNamedByTemplate ? [{ by: 'files' as const, name: 'opentofu' }] : []),
    ...(writer ? [{ by: 'state' as const, name: writer.name }] : []),
  ];
  const usable = toolNames.filter((name) => names.every((each) => each.name === name));
  if (usable.length === 0) return { conflict: describeNames(names) };
  const boundsOf = (name: ToolName) => [
    ...boundsOfFiles(files, name),
    ...named.flatMap(({ by, version }) => (version === undefined ? [] : [{ version, by }])),
    ...(writer?.version ? [{ version: `>= ${writer.version}`, by: 'state' as const }] : []),
  ];
  const bounds = usable.map((name) => [name, boundsOf(name)] as const);
  const satisfiable = bounds.filter(([, each]) => canBeMet(each));
  if (satisfiable.length > 0) return Object.fromEntries(satisfiable);
  return { conflict: bounds.map(([name, each]) => describeBounds(name, each)).join('; ') };
}

export function isEmptyDemand(demand: ToolDemand | EmptyDemand): demand is EmptyDemand {
  return 'conflict' in demand;
}

/** Whether a demand includes a tool. Null: it includes all. */
export function meetsDemand(demand: ToolDemand | null, tool: VersionedTool): boolean {
  if (demand === null) return true;
  const name = toolNames.find((each) => each === tool.name);
  const bounds = name && demand[name];
  return bounds !== undefined && isInRanges(tool.version, rangesOf(bounds.filter((each) => obeys(tool, each))));
}

/**
 * Whether a demand was written with a tool in mind: it is also in the ranges that its version ignores. Of several tools that fit, such a one is
 * preferred.
 */
export function isMeantBy(demand: ToolDemand | null, tool: VersionedTool): boolean {
  if (!meetsDemand(demand, tool)) return false;
  const bounds = Object.entries(demand ?? {}).find(([name]) => name === tool.name)?.[1] ?? [];
  return isInRanges(tool.version, rangesOf(bounds.filter(({ of }) => of !== 'newer' || obeys(tool, { of }))));
}

/** Whether a tool that a demand includes can have at least a version. */
export function canBeAtLeast(demand: ToolDemand, { name, version }: VersionedTool): boolean {
  const bounds = Object.entries(demand).find(([each]) => each === name)?.[1];
  return bounds !== undefined && canBeMet([...bounds, { version: `>= ${version}`, by: 'request' }]);
}

/** Whether a tool may go on from a state: it is of the kind that wrote it, and not older. */
export function mayFollow(writer: StateWriter | null, { name, version }: VersionedTool): boolean {
  if (writer === null) return true;
  return name === writer.name && (writer.version === null || compareVersions(version, writer.version) >= 0);
}

/** The best of some tools: of the kind that is preferred, in its highest version. The order of the tools does not matter. */
export function bestOf<Found extends VersionedTool>(tools: readonly Found[]): Found | undefined {
  const preferred: readonly string[] = toolNames;
  const rank = ({ name }: VersionedTool) => preferred.indexOf(name);
  const [best] = tools.toSorted((one, other) => rank(one) - rank(other) || compareVersions(other.version, one.version));
  return best;
}

/** The best of some tools that a demand includes: one that it was written for, if there is any. */
export function bestMeant<Found extends VersionedTool>(
  demand: ToolDemand | null,
  tools: readonly Found[],
): Found | undefined {
  return bestOf(tools.filter((tool) => isMeantBy(demand, tool))) ?? bestOf(tools);
}

/** A demand as people and clients read it: one range for each tool. An empty range is any version. */
export function toWantedTools(demand: ToolDemand): { name: ToolName; version: string }[] {
  return toolNames.flatMap((name) => {
    const bounds = demand[name];
    if (bounds === undefined) return [];
    return alternativesOf(bounds).map((each) => ({ name, version: joinRanges(each.map(({ version }) => version)) }));
  });
}

function boundsOfFiles({ required, requiredSince12 }: FilesTools, name: ToolName): Bound[] {
  const toBounds = (ranges: readonly string[], of?: Obeying) =>
    ranges.map((version): Bound => ({ version, by: 'files', ...(of && { of }) }));
  if (name !== 'opentofu' || requiredSince12 === undefined) return toBounds(required[name]);
  const always = required.opentofu.filter((each) => requiredSince12.includes(each));
  const older = required.opentofu.filter((each) => !always.includes(each));
  const newer = requiredSince12.filter((each) => !always.includes(each));
  return [...toBounds(always), ...toBounds(older, 'older'), ...toBounds(newer, 'newer')];
}

const sourceWords: Readonly<Record<BoundSource, string>> = {
  template: 'the template version',
  files: "the template's files",
  environment: 'the environment',
  instance: 'the instance',
  state: 'the state of the instance',
  request: 'the request',
};

function describeNames(names: readonly { by: BoundSource; name: string }[]): string {
  return names
    .map(({ by, name }) => `${sourceWords[by]} needs ${name}`)
    .join(', ')
    .replaceAll('files needs', 'files need');
}

function describeBounds(name: ToolName, bounds: readonly Bound[]): string {
  const each = contradictionIn(bounds).map(({ by, version }) => `"${version}" (${sourceWords[by]})`);
  return `no version of ${name} is in all of ${joinRanges(each)}`;
}
