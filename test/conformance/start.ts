import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { InstalledTool } from '#executors/client/tools.ts';
import { Caller } from '#test/support/api/caller.ts';
import { Program } from '#test/support/programs/start.ts';

const administrator = { email: 'root@example.com', password: 'correct horse battery' };
const programs = { opentofu: 'tofu', terraform: 'terraform' } as const;

/**
 * Starts the service as `npm start` does, with the tools and no others.
 * @param mirror a filesystem mirror: providers come from nowhere else
 * @param repositories a directory below which the service may read git repositories
 */
export async function startService(
  tools: readonly InstalledTool[],
  { mirror, repositories }: { readonly mirror: string; readonly repositories: string | null },
): Promise<{
  readonly caller: Caller;
  close(): Promise<void>;
}> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-'));
  chmodSync(directory, 0o711);
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  for (const { name, path } of tools) symlinkSync(path, join(bin, programs[name]));
  const program = Program.coordinator(['start'], {
    PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(delimiter),
    COORDINATOR_DATA_DIR: join(directory, 'data'),
    COORDINATOR_ADMIN_EMAIL: administrator.email,
    COORDINATOR_ADMIN_PASSWORD: administrator.password,
    COORDINATOR_SAMPLE: 'false',
    COORDINATOR_PROVIDER_MIRROR: mirror,
    ...(repositories !== null && { COORDINATOR_OUTBOUND_ALLOW: `file://${repositories}` }),
  });
  const [, url = ''] = await program.says(/(http:\/\/127\.0\.0\.1:\d+)/, 300_000);
  return {
    caller: await Caller.signIn(url, administrator.email, administrator.password),
    close: async () => {
      await program.stop('SIGINT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
