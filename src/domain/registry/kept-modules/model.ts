import { findUnstorable } from '#domain/shared/values/storable.ts';

/** The external modules and providers of a template version, kept so that every run uses the same ones. */

/** One package of modules, to which one `source` was resolved. */
export interface ResolvedModule {
  /** Where it is called, such as `network` or `network.subnets`. */
  readonly key: string;
  readonly source: string;
  /** The version in a registry; null for other sources. */
  readonly version: string | null;
  /** `sha256:…` over its files. */
  readonly digest: string;
}

export interface KeptModules {
  /** `sha256:…` over everything that `init` stored for modules, which plans contain too; empty if there are no external modules. */
  readonly digest: string;
  readonly list: readonly ResolvedModule[];
  /** The files, packed by the executor; null if they are too many or too large to be kept. */
  readonly content: Buffer | null;
  /**
   * The dependency lock files by platform, such as `linux_amd64`: the exact versions and checksums of the providers. Empty if there are no
   * providers.
   */
  readonly locks: Readonly<Record<string, string>>;
}

/**
 * Files beyond these limits are not kept. The packages are still listed with their digests, so that a run that fetches other files fails.
 * Sizes are in bytes.
 */
export const keptModulesLimits = {
  files: 5_000,
  bytes: 64 * 1024 * 1024,
  packed: 16 * 1024 * 1024,
  /** The maximum number of listed packages. `init` downloads each of them. */
  packages: 10_000,
  /** The size of the list in JSON. Real lists are much smaller, because manifests above 4 MiB are not read. */
  list: 8 * 1024 * 1024,
  /** The size of a lock file, and the number of platforms. */
  lock: 1024 * 1024,
  platforms: 16,
} as const;

const digestPattern = /^sha256:[0-9a-f]{64}$/;
const platformPattern = /^[a-z0-9]+_[a-z0-9]+$/;

/** Whether modules can be kept. A worker is not trusted: modules that are too large, or that cannot be stored, are not kept. */
export function isKeepable({ digest, list, content, locks }: KeptModules): boolean {
  return (
    (digestPattern.test(digest) || (digest === '' && list.length === 0)) &&
    Object.keys(locks).length <= keptModulesLimits.platforms &&
    Object.entries(locks).every(
      ([name, lock]) => platformPattern.test(name) && lock.length <= keptModulesLimits.lock,
    ) &&
    findUnstorable(locks) === null &&
    list.length <= keptModulesLimits.packages &&
    JSON.stringify(list).length <= keptModulesLimits.list &&
    list.every((module) => digestPattern.test(module.digest)) &&
    (content?.length ?? 0) <= keptModulesLimits.packed &&
    findUnstorable(list) === null
  );
}

/**
 * The first module with other files than before although its source and version are the same; undefined if there is none. Other sources are
 * ignored, because variables may choose a different source in each run.
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
