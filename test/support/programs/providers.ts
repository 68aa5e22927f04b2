import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The directory in which scripts/setup/providers.js builds the providers. Both must agree. */
const built = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'delivery-coordinator', 'providers');
const versions = { time: '0.14.2', local: '1.4.0' } as const;
const platform = `linux_${process.arch === 'x64' ? 'amd64' : 'arm64'}`;

/** Whether the providers are installed. Set-up builds them if Go is installed. */
export function hasProviders(): boolean {
  return Object.keys(versions).every((name) => existsSync(join(built, `terraform-provider-${name}`)));
}

/** Creates a filesystem mirror of the real providers `time` and `local`, under an address that no registry serves. */
export function makeProviderMirror(directory: string): void {
  for (const [name, version] of Object.entries(versions)) {
    const place = join(directory, 'mirror.test', 'hashicorp', name, version, platform);
    mkdirSync(place, { recursive: true });
    const program = join(place, `terraform-provider-${name}_v${version}`);
    copyFileSync(join(built, `terraform-provider-${name}`), program);
    chmodSync(program, 0o755);
  }
  chmodSync(directory, 0o755);
}
