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

/** Decides which tools a run may use. The template version, its files, the environment and the instance limit them. Pure. */

/** The tools that a run may use, each with the bounds of its versions. It may not use a tool that is missing here. */
export type ToolDemand = { readonly [Name in ToolName]?: readonly Bound[] };

/** What the files of a template require (`readFilesTools`). */
export interface FilesTools {
  /** Whether there are files that only OpenTofu reads and that do not replace a file that Terraform reads. */
  readonly needsOpenTofu: boolean;
  /** The ranges of `required_version` that each tool reads. For OpenTofu, those that versions before 1.12 read. */
  readonly required: { readonly [Name in ToolName]: readonly string[] };
  /** The ranges that OpenTofu reads from 1.12 on: those of its own files and of `language` blocks. Undefined: the same as before 1.12. */
  readonly requiredSince12?: readonly string[];
}

/** The requirements of files that allow every tool. */
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
  /** Null: nothing is deployed, or the purpose of the run is to change the tool. */
  readonly writer: StateWriter | null;
}

/** Why no tool can ever fit. */
export interface EmptyDemand {
  readonly conflict: string;
}

/** The tools that meet all requirements. */
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
 * Whether a tool is also in the ranges that its version ignores, so that the demand was probably written for it. Such a tool is preferred
 * to others that meet the demand.
 */
export function isMeantBy(demand: ToolDemand | null, tool: VersionedTool): boolean {
  if (!meetsDemand(demand, tool)) return false;
  const bounds = Object.entries(demand ?? {}).find(([name]) => name === tool.name)?.[1] ?? [];
  return isInRanges(tool.version, rangesOf(bounds.filter(({ of }) => of !== 'newer' || obeys(tool, { of }))));
}

/** Whether the demand includes a tool in this version or a newer one. */
export function canBeAtLeast(demand: ToolDemand, { name, version }: VersionedTool): boolean {
  const bounds = Object.entries(demand).find(([each]) => each === name)?.[1];
  return bounds !== undefined && canBeMet([...bounds, { version: `>= ${version}`, by: 'request' }]);
}

/** Whether a tool may use a state. It must be the same tool as the one that wrote it, and not older. */
export function mayFollow(writer: StateWriter | null, { name, version }: VersionedTool): boolean {
  if (writer === null) return true;
  return name === writer.name && (writer.version === null || compareVersions(version, writer.version) >= 0);
}

/** The highest version of the preferred tool. The order of the argument does not matter. */
export function bestOf<Found extends VersionedTool>(tools: readonly Found[]): Found | undefined {
  const preferred: readonly string[] = toolNames;
  const rank = ({ name }: VersionedTool) => preferred.indexOf(name);
  const [best] = tools.toSorted((one, other) => rank(one) - rank(other) || compareVersions(other.version, one.version));
  return best;
}

/**
 * The best of the tools for which the demand was probably written (`isMeantBy`), or else the best of all. The demand includes all `tools`.
 */
export function bestMeant<Found extends VersionedTool>(
  demand: ToolDemand | null,
  tools: readonly Found[],
): Found | undefined {
  return bestOf(tools.filter((tool) => isMeantBy(demand, tool))) ?? bestOf(tools);
}

/** A demand in the form for people and clients: the ranges of each tool. An empty range means any version. */
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
