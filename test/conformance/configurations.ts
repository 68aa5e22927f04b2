import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import semver from 'semver';
import { z } from 'zod';
import type { InstalledTool } from '#executors/client/tools.ts';

/** The configurations that are compared: modules of this project, and the test data of the tools themselves. */

export interface Configuration {
  readonly name: string;
  /** All of its files. */
  readonly directory: string;
  /** The root module in the directory; empty for the directory itself. */
  readonly path: string;
  /** The repository that the service reads the files from; null if they are sent with the version. */
  readonly repository: { readonly url: string; readonly commit: string } | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether it has ephemeral variables, which the tool demands again when it applies a plan. */
  readonly appliesWithVariables: boolean;
  /** By tool: the range of versions that understands it. A tool without a range does not run it. */
  readonly tools: Readonly<Record<InstalledTool['name'], string | null>>;
}

const CaseFile = z.strictObject({
  variables: z.record(z.string(), z.unknown()).default({}),
  applies_with_variables: z.boolean().default(false),
  opentofu: z.string().nullable().default('*'),
  terraform: z.string().nullable().default('*'),
});

const plain = { path: '', repository: null, variables: {}, appliesWithVariables: false };

const modules = fileURLToPath(new URL('modules', import.meta.url));

/** The project's own modules, each a directory. `case.json` names its variables and the versions that understand it. */
export function findModules(): Configuration[] {
  return readdirSync(modules).map((name) => {
    const directory = join(modules, name);
    const file = join(directory, 'case.json');
    const {
      variables,
      applies_with_variables: appliesWithVariables,
      ...tools
    } = CaseFile.parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
    return { ...plain, name: `modules/${name}`, directory, variables, appliesWithVariables, tools };
  });
}

/** The repositories whose test data the tools are developed against, as the Go module proxy has them. */
export const fixtureSources = ['github.com/opentofu/opentofu@v1.12.6', 'github.com/hashicorp/terraform@v1.11.4'];

/**
 * Downloads a tool's sources and finds the configurations in their test data that name no provider. It needs Go.
 * The licence of the sources does not let this project keep them.
 */
export function findFixtures(source: string): Configuration[] {
  const root = downloadSources(source);
  const tools = { opentofu: '*', terraform: '*' };
  return findRoots(root)
    .filter((directory) => directory.includes('/testdata/') && needsNoProvider(directory))
    .map((directory) => ({
      name: `${source}/${relative(root, directory)}`,
      ...plain,
      directory,
      tools,
    }));
}

/** Go downloads from any directory, so an empty one keeps it from reading a module of somebody else. */
function downloadSources(source: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'coordinator-conformance-'));
  try {
    const answer = execFileSync('go', ['mod', 'download', '-json', source], { cwd, encoding: 'utf8' });
    return z.object({ Dir: z.string() }).parse(JSON.parse(answer)).Dir;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

export function runsWith({ tools }: Configuration, { name, version }: InstalledTool): boolean {
  const range = tools[name];
  return range !== null && semver.satisfies(version, range);
}

/** Directories with a configuration, but not the modules inside one that was found already. */
function findRoots(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  const hasConfiguration = entries.some((entry) => entry.isFile() && isConfiguration(entry.name));
  if (hasConfiguration && directory.includes('/testdata/')) return [directory];
  return entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => findRoots(join(directory, name)));
}

function isConfiguration(name: string): boolean {
  return /\.(tf|tofu)(\.json)?$/.test(name);
}

const builtInTypes = /^terraform_/;

/** Whether the files name no provider but the one that is built into the tools, by a search of their text. */
function needsNoProvider(directory: string): boolean {
  return listFiles(directory)
    .filter(isConfiguration)
    .every((path) => {
      const text = readFileSync(join(directory, path), 'utf8');
      if (/\brequired_providers\b|^\s*provider\s+"|"provider"\s*:/m.test(text)) return false;
      const types = [...text.matchAll(/^\s*(?:resource|data|ephemeral|action|list)\s+"([^"]+)"/gm)].map(
        ([, type = '']) => type,
      );
      const isJson = path.endsWith('.json') && /"(resource|data)"\s*:/.test(text);
      return !isJson && types.every((type) => builtInTypes.test(type));
    });
}

/** Relative paths of all regular files. */
export function listFiles(directory: string, below = ''): string[] {
  return readdirSync(join(directory, below)).flatMap((name) => {
    const path = below === '' ? name : `${below}/${name}`;
    const entry = lstatSync(join(directory, path));
    if (entry.isDirectory()) return name === '.terraform' ? [] : listFiles(directory, path);
    return entry.isFile() ? [path] : [];
  });
}
