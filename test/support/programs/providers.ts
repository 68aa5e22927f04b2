import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The directory in which scripts/setup/providers.js builds the providers. Both must agree. */
const built = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'delivery-coordinator', 'providers');
const versions = { time: '0.14.2', local: '1.4.0' } as const;
/** The provider in ephemeral-provider/: one with ephemeral resources and write-only arguments. */
const ownVersion = '1.0.0';
const ownProgram = `terraform-provider-ephemeral_v${ownVersion}`;
export const providerPlatform = `linux_${process.arch === 'x64' ? 'amd64' : 'arm64'}`;

/** Whether the providers are installed. Set-up builds them if Go is installed. */
export function hasProviders(): boolean {
  const programs = [...Object.keys(versions).map((name) => `terraform-provider-${name}`), ownProgram];
  return programs.every((name) => existsSync(join(built, name)));
}

/** The program of a real provider. */
export function readBuiltProvider(name: keyof typeof versions): Buffer {
  return readFileSync(join(built, `terraform-provider-${name}`));
}

/** Creates a filesystem mirror of the providers `time`, `local` and `ephemeral`, under an address that no registry serves. */
export function makeProviderMirror(directory: string): void {
  for (const [name, version] of Object.entries(versions))
    addProvider(directory, { name, version, program: `terraform-provider-${name}` });
  addProvider(directory, { name: 'ephemeral', version: ownVersion, program: ownProgram });
  chmodSync(directory, 0o755);
}

function addProvider(
  directory: string,
  { name, version, program }: { name: string; version: string; program: string },
) {
  const place = join(directory, 'mirror.test', 'hashicorp', name, version, providerPlatform);
  mkdirSync(place, { recursive: true });
  const copy = join(place, `terraform-provider-${name}_v${version}`);
  copyFileSync(join(built, program), copy);
  chmodSync(copy, 0o755);
}
