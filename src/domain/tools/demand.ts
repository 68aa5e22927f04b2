import { type ToolName, toolNames, type VersionedTool, type WantedTool } from './model.ts';
import { canBeSatisfied, compareVersions, isInRanges, parseRange, type VersionRange } from './ranges.ts';

/** Which tools a run may use: by its template version, its files, its environment and its instance. Pure. */

/** What limits the versions of a tool. */
export const boundSources = ['template', 'files', 'environment', 'instance', 'state', 'request'] as const;
export type BoundSource = (typeof boundSources)[number];

interface Bound {
  readonly version: string;
  readonly by: BoundSource;
}

/** The tools that may be used, each with what limits its versions. A tool that is missing may not be used. */
export type ToolDemand = { readonly [Name in ToolName]?: readonly Bound[] };

/** What the files of a template say (`readFilesTools`). */
export interface FilesTools {
  /** Whether there are files that only OpenTofu reads, and that stand for no file that Terraform reads. */
  readonly needsOpenTofu: boolean;
  /** The ranges of `required_version`, by the tool that reads them. */
  readonly required: { readonly [Name in ToolName]: readonly string[] };
}

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
    ...files.required[name].map((version) => ({ version, by: 'files' as const })),
    ...named.flatMap(({ by, version }) => (version === undefined ? [] : [{ version, by }])),
    ...(writer?.version ? [{ version: `>= ${writer.version}`, by: 'state' as const }] : []),
  ];
  const bounds = usable.map((name) => [name, boundsOf(name)] as const);
  const satisfiable = bounds.filter(([, each]) => canBeSatisfied(rangesOf(each)));
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
  return bounds !== undefined && isInRanges(tool.version, rangesOf(bounds));
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

/** A demand as people and clients read it: one range for each tool. An empty range is any version. */
export function toWantedTools(demand: ToolDemand): { name: ToolName; version: string }[] {
  return toolNames.flatMap((name) => {
    const bounds = demand[name];
    if (bounds === undefined) return [];
    return [{ name, version: [...new Set(bounds.map(({ version }) => version))].join(', ') }];
  });
}

/** What cannot be read does not limit: the tool itself refuses it. */
function rangesOf(bounds: readonly Bound[]): VersionRange[] {
  return bounds.map(({ version }) => parseRange(version)).filter((range) => range !== undefined);
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
  const each = bounds.map(({ by, version }) => `"${version}" (${sourceWords[by]})`);
  return `no version of ${name} is in all of ${each.join(', ')}`;
}
