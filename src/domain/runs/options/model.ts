import { type RunOptionName, runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { compareVersions } from '#domain/tools/ranges.ts';

/** How a run uses its tool: options that people choose for one run. Pure. */

/** An option that is left out has the default of the tool. */
export interface RunOptions {
  /** Only these resources, and what they depend on. */
  readonly target?: readonly string[] | undefined;
  /** All resources except these and those that depend on them. */
  readonly exclude?: readonly string[] | undefined;
  /** `false`: the plan compares with the state alone, and not with what is really there. */
  readonly refresh?: boolean | undefined;
  /** How many operations the tool does at a time. */
  readonly parallelism?: number | undefined;
  /** The level of the tool's debug log, which is separate from the log of the run. */
  readonly log_level?: LogLevel | undefined;
}

/** How much the tool logs about itself, from most to least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const maxAddresses = 100;
export const maxParallelism = 256;

/** The options that differ from the defaults of the tool; null if none does. Equal options give equal values. */
export function toStoredOptions({
  target = [],
  exclude = [],
  refresh,
  parallelism,
  log_level,
}: RunOptions): RunOptions | null {
  const stored = {
    ...(target.length > 0 && { target: [...target] }),
    ...(exclude.length > 0 && { exclude: [...exclude] }),
    ...(refresh === false && { refresh }),
    ...(parallelism !== undefined && { parallelism }),
    ...(log_level !== undefined && { log_level }),
  };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** The names of the options that a run uses. */
export function namesOfOptions(options: RunOptions | null, replace: readonly string[]): RunOptionName[] {
  const stored: RunOptions = (options && toStoredOptions(options)) ?? {};
  const used = runOptionNames.filter((name) => name !== 'replace' && stored[name] !== undefined);
  return replace.length > 0 ? ['replace', ...used] : used;
}

/** The options that make a run partial. */
type Partiality = Pick<RunOptions, 'target' | 'exclude' | 'refresh'>;

/**
 * Whether a run may leave out changes that its configuration or the real resources require, so that its success says nothing about the
 * whole instance.
 */
export function isPartial(options: Partiality | null | undefined): boolean {
  const { target = [], exclude = [], refresh = true } = options ?? {};
  return target.length > 0 || exclude.length > 0 || !refresh;
}

/** What a partial run leaves out, in a sentence; null for a whole run. */
export function describePartial(options: Partiality | null | undefined): string | null {
  if (!isPartial(options)) return null;
  const { target = [], exclude = [], refresh = true } = options ?? {};
  const parts = [
    ...(target.length > 0 ? [`only ${listed(target)} and what they depend on`] : []),
    ...(exclude.length > 0 ? [`all but ${listed(exclude)} and what depends on them`] : []),
    ...(refresh ? [] : ['without looking at what is really there']),
  ];
  return `This run is partial: ${parts.join(', ')}.`;
}

const maxListed = 5;

function listed(addresses: readonly string[]): string {
  const more = addresses.length - maxListed;
  return `${addresses.slice(0, maxListed).join(', ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

/** The oldest tool that knows an option that not every tool knows. */
const knownSince: Partial<Record<RunOptionName, VersionedTool>> = {
  exclude: { name: 'opentofu', version: '1.9' },
};

/** The options of a run that not every tool knows, each with the oldest tool that knows it. */
export function listDemandingOptions(options: RunOptions | null): { name: RunOptionName; since: VersionedTool }[] {
  return namesOfOptions(options, []).flatMap((name) => {
    const since = knownSince[name];
    return since ? [{ name, since }] : [];
  });
}

/** Why a tool does not know an option, with what knows it; null if it knows all. */
export function findUnknownOption(options: RunOptions | null, tool: VersionedTool): string | null {
  const unknown = listDemandingOptions(options).find(
    ({ since }) => tool.name !== since.name || compareVersions(tool.version, since.version) < 0,
  );
  return unknown
    ? `the option ${unknown.name} needs ${unknown.since.name} ${unknown.since.version} or newer, and the tool is ${tool.name} ${tool.version}`
    : null;
}
