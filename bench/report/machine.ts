import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { defaultShares } from '#domain/workers/pools/model.ts';
import { temporalVersion } from '../installation/temporal-cluster.ts';

/** Describes in one line the hardware and the versions that figures depend on. It does not name the machine. */
export function describeMachine(databaseVersion: string, tool: string): string {
  const [processor] = cpus();
  const cores = `${cpus().length} × ${processor?.model.trim() ?? 'unknown processor'}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${type()} ${release().split('-')[0]}`;
  const versions = `Node ${process.versions.node}, PostgreSQL ${databaseVersion}, Temporal server ${temporalVersion}, ${tool}`;
  const { maxTeamPercent, maxPersonPercent } = defaultShares;
  const shares = `slots of a pool of several teams: ${maxTeamPercent} % a team, ${maxPersonPercent} % a person while others ask`;
  return `${cores}, ${memory}, ${system}; ${versions}; ${shares}`;
}

/** The name and version of the tool, from the line that `version` prints, perhaps below warnings. */
export function versionOf(tool: string): string {
  const output = spawnSync(tool, ['version'], { encoding: 'utf8' }).stdout ?? '';
  return /^(?:OpenTofu|Terraform) v\S+/m.exec(output)?.[0] ?? 'an unknown tool';
}
