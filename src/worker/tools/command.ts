import { parseArgs } from 'node:util';
import { readToolsDirectory } from '#config';
import { type ToolName, toolNames } from '#domain/tools/model.ts';
import { discoverTools } from '#executors/client/tools.ts';
import { ToolsError } from './errors.ts';
import { installTool, removeTool } from './install.ts';
import { publishers } from './releases.ts';

const usage =
  'Usage: npm run tools -- list | add <opentofu|terraform> <version> [--from <directory>] [--mirror <url>] | remove <opentofu|terraform> <version>';

/**
 * Lists, adds and removes the tools that the workers of this machine offer in addition to those on the search path. Returns the exit code.
 */
export function runToolsCommand(given: string[]): Promise<number> {
  return run(given).catch((error: unknown) => {
    if (!(error instanceof ToolsError)) throw error;
    console.error(error.message);
    return 1;
  });
}

async function run(given: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: given,
    allowPositionals: true,
    options: { from: { type: 'string' }, mirror: { type: 'string' } },
  });
  const [action, toolName, version = ''] = positionals;
  const directory = readToolsDirectory();
  if (action === 'list' && positionals.length === 1) return list(directory);
  const name = toolNames.find((each) => each === toolName);
  if (!name || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/.test(version) || positionals.length !== 3)
    throw new ToolsError(usage);
  if (action === 'remove') {
    await removeTool(directory, name, version);
    console.log(`Removed ${name} ${version}. Runs that were planned with it wait until it is there again.`);
    return 0;
  }
  if (action !== 'add') throw new ToolsError(usage);
  await add(directory, name, version, values);
  return 0;
}

async function add(
  directory: string,
  name: ToolName,
  version: string,
  { from = null, mirror }: { from?: string | null; mirror?: string },
): Promise<void> {
  const publisher = { ...publishers[name], ...(mirror !== undefined && { base: mirror.replace(/\/$/, '') }) };
  await installTool({ name, version, directory, publisher, from });
  console.log(`Installed ${name} ${version} in ${directory}. Running workers offer it within seconds.`);
}

async function list(directory: string): Promise<number> {
  const tools = await discoverTools({ directory });
  for (const { name, version, path } of tools) console.log(`${name} ${version}  ${path}`);
  if (tools.length === 0) console.log(`There is no tool, neither on the PATH nor in ${directory}.`);
  return 0;
}
