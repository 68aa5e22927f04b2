import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Configuration } from '../configurations.ts';
import { type PublicConfiguration, publicConfigurations } from './repositories.ts';

const standIn = fileURLToPath(new URL('stand-in', import.meta.url));

export interface Preparation {
  readonly isWanted: boolean;
  /** The URL of a repository, in which `{name}` and `{directory}` stand for its name with `/` or `+`. */
  readonly from: string;
  /** A part of the names of those that are wanted. */
  readonly only: string;
  /** Where the filesystem mirror of providers is laid. */
  readonly mirror: string;
  /** Where the repositories are cloned to. */
  readonly repositories: string;
}

/** Clones the public configurations, and lays a mirror with a stand-in for each of their providers. It needs Go and git. */
export function preparePublic({ isWanted, from, only, mirror, repositories }: Preparation): Configuration[] {
  for (const directory of [mirror, repositories]) mkdirSync(directory, { recursive: true });
  const wanted = isWanted ? publicConfigurations.filter((each) => nameOf(each).includes(only)) : [];
  if (wanted.length === 0) return [];
  const cloned = new Map<string, { directory: string; commit: string }>();
  for (const each of wanted) {
    if (!cloned.has(each.repository)) cloned.set(each.repository, clone(each, from, repositories));
  }
  const configurations = wanted.map((each): Configuration => {
    const { directory, commit } = cloned.get(each.repository) ?? { directory: '', commit: '' };
    return {
      name: nameOf(each),
      directory,
      path: each.path,
      repository: { url: `file://${directory}`, commit },
      variables: each.variables ?? {},
      appliesWithVariables: false,
      tools: { opentofu: each.opentofu ?? '*', terraform: each.terraform ?? '*' },
    };
  });
  const program = join(mirror, '..', 'stand-in');
  run(['go', 'build', '-o', program, '.'], standIn);
  run([program, 'lay', mirror, ...configurations.map(({ directory, path }) => join(directory, path))], standIn);
  return configurations;
}

function nameOf({ repository, commit, path }: PublicConfiguration): string {
  return `public/${repository}@${commit.slice(0, 12)}/${path}`;
}

/** A lock file names the providers that are replaced, by their digests: it is left out of the repository that is published. */
function clone(
  { repository, commit }: PublicConfiguration,
  from: string,
  repositories: string,
): { directory: string; commit: string } {
  const plus = repository.replace('/', '+');
  const directory = join(repositories, plus);
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const git = (...given: string[]) => run(['git', ...identity, ...given], directory);
  git('init', '--quiet');
  git('fetch', '--quiet', '--depth=1', from.replace('{name}', repository).replace('{directory}', plus), commit);
  git('checkout', '--quiet', '--detach', commit);
  git('rm', '--quiet', '--ignore-unmatch', '.terraform.lock.hcl', '**/.terraform.lock.hcl');
  git('commit', '--quiet', '--allow-empty', '--message', 'Replace the providers');
  git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  return { directory, commit: git('rev-parse', 'HEAD').trim() };
}

const identity = [
  '-c',
  'user.name=conformance',
  '-c',
  'user.email=conformance@example.com',
  '-c',
  'commit.gpgsign=false',
];

function run([program = '', ...given]: readonly string[], cwd: string): string {
  return execFileSync(program, given, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
