/** The dependency lock file of the tools: which version of each provider a configuration uses, and which packages are genuine. */

export interface LockedProvider {
  /** The full source address, such as `registry.opentofu.org/hashicorp/time`. */
  readonly address: string;
  readonly version: string;
  readonly constraints: string | null;
  /** `h1:…` over the files of a package, and `zh:…` over an archive. */
  readonly hashes: readonly string[];
}

const block = /provider\s+"([^"\\]+)"\s*\{([^{}]*)\}/g;
const comment = /^\s*(?:#|\/\/).*$/gm;
/** Parts of addresses and versions become names of directories. */
const address = /^[\p{L}\p{N}.-]+(?::\d{1,5})?(?:\/[\p{L}\p{N}_-]+){2}$/u;
const version = /^\d[0-9A-Za-z.+-]*$/;

/** The providers of a lock file; null if it has anything that the tools do not write themselves. */
export function readLockFile(content: Buffer): LockedProvider[] | null {
  const text = content.toString().replace(comment, '');
  if (text.replace(block, '').trim() !== '') return null;
  const found = [...text.matchAll(block)].map(([, name = '', body = '']) => readProvider(name, body));
  return found.some((provider) => provider === null) ? null : found.filter((provider) => provider !== null);
}

function readProvider(name: string, body: string): LockedProvider | null {
  const attribute = (key: string) => new RegExp(`^\\s*${key}\\s*=\\s*"([^"\\\\]*)"\\s*$`, 'm').exec(body)?.[1] ?? null;
  const listed = /^\s*hashes\s*=\s*\[([^\]]*)\]/m.exec(body)?.[1] ?? '';
  const chosen = attribute('version');
  if (!address.test(name) || chosen === null || !version.test(chosen)) return null;
  const hashes = [...listed.matchAll(/"([^"\\]*)"/g)].map(([, hash = '']) => hash);
  return { address: name, version: chosen, constraints: attribute('constraints'), hashes };
}

/** Writes a lock file as the tools do. */
export function writeLockFile(providers: readonly LockedProvider[]): Buffer {
  const blocks = providers.map(({ address: name, version: chosen, constraints, hashes }) =>
    [
      `provider "${name}" {`,
      `  version     = "${chosen}"`,
      ...(constraints === null ? [] : [`  constraints = "${constraints}"`]),
      ...(hashes.length === 0 ? [] : ['  hashes = [', ...[...hashes].sort().map((hash) => `    "${hash}",`), '  ]']),
      '}',
      '',
    ].join('\n'),
  );
  return Buffer.from(blocks.join('\n'));
}

/** Whether a hash is over the files of an unpacked package. */
export function isOfPackage(hash: string): boolean {
  return hash.startsWith('h1:');
}

/**
 * A lock file for another platform than the one that it was made on. The versions stay, and the checksums of archives, which registries publish
 * for all platforms. A provider without any gets its checksums on first use, like a provider that no lock file names.
 */
export function lockForOtherPlatform(content: Buffer): Buffer | null {
  const providers = readLockFile(content);
  if (providers === null) return null;
  return writeLockFile(
    providers.map((each) => ({ ...each, hashes: each.hashes.filter((hash) => !isOfPackage(hash)) })),
  );
}

/**
 * The lock file without checksums, for calls after `init`. With them, the tool would read all of every package again for each call, although the
 * host has compared them and nobody can change them.
 */
export function withoutChecksums(content: Buffer): Buffer {
  const providers = readLockFile(content);
  return providers === null ? content : writeLockFile(providers.map((each) => ({ ...each, hashes: [] })));
}

/** The name of this platform in packages and lock files. */
export const platform = `${process.platform === 'win32' ? 'windows' : process.platform}_${goArchitecture()}`;

function goArchitecture(): string {
  const names: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
  return names[process.arch] ?? process.arch;
}
