import { findUnstorable } from '#domain/shared/values/storable.ts';

/** The modules from elsewhere that a version of a template uses, so that it uses the same ones in every run. */

/** One package of modules: what one `source` was resolved to. */
export interface ResolvedModule {
  /** Where it is called, such as `network` or `network.subnets`. */
  readonly key: string;
  readonly source: string;
  /** Of a registry; null for other sources. */
  readonly version: string | null;
  /** `sha256:…` over its files. */
  readonly digest: string;
}

export interface KeptModules {
  /** `sha256:…` over all that `init` left of modules. Plans have it, too. */
  readonly digest: string;
  readonly list: readonly ResolvedModule[];
  /** The files, packed by the executor; null if they are too many or too large to be kept. */
  readonly content: Buffer | null;
}

/** Files beyond these limits are not kept, but the packages are listed with their digests, so that a run that finds others ends. Sizes are in bytes. */
export const keptModulesLimits = {
  files: 5_000,
  bytes: 64 * 1024 * 1024,
  packed: 16 * 1024 * 1024,
  /** How many packages are listed. Every one of them is a download of `init`. */
  packages: 10_000,
  /** Of the list in JSON. What a tool wrote stays far below it, because a manifest of 4 MiB is the largest that is read. */
  list: 8 * 1024 * 1024,
} as const;

const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Whether modules can be kept. A worker is not trusted: what is too large, or cannot be stored, is not kept. */
export function isKeepable({ digest, list, content }: KeptModules): boolean {
  return (
    digestPattern.test(digest) &&
    list.length <= keptModulesLimits.packages &&
    JSON.stringify(list).length <= keptModulesLimits.list &&
    list.every((module) => digestPattern.test(module.digest)) &&
    (content?.length ?? 0) <= keptModulesLimits.packed &&
    findUnstorable(list) === null
  );
}

/**
 * The first module that was resolved to other files than before, though its source and version are the same; undefined if there is none. A source that
 * variables choose may be another one in each run.
 */
export function findChanged(
  before: readonly ResolvedModule[],
  after: readonly ResolvedModule[],
): { readonly was: ResolvedModule; readonly is: ResolvedModule } | undefined {
  const known = new Map(before.map((module) => [module.key, module]));
  for (const is of after) {
    const was = known.get(is.key);
    if (was && was.source === is.source && was.version === is.version && was.digest !== is.digest) return { was, is };
  }
  return undefined;
}
