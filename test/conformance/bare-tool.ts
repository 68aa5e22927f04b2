import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Configuration } from './configurations.ts';
import { type Lifecycle, type Stage, stateOf } from './lifecycle.ts';

/** Runs a configuration as its owner would by hand, in a directory of its own. */

const maxOutputBytes = 64 * 1024 * 1024;
const withinMs = 120_000;
const variablesFile = 'conformance.tfvars.json';

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** @param toolPath the program; @param directory an empty directory for this configuration */
export async function runBareTool(
  toolPath: string,
  configuration: Configuration,
  directory: string,
): Promise<Lifecycle> {
  const work = join(directory, 'work');
  mkdirSync(work, { recursive: true });
  cpSync(configuration.directory, work, { recursive: true });
  rmSync(join(work, 'case.json'), { force: true });
  writeFileSync(join(work, variablesFile), JSON.stringify(configuration.variables));
  const run = (...given: string[]) => runProgram(toolPath, given, work);
  return stepThrough(run, work, configuration.appliesWithVariables);
}

type Run = (...given: string[]) => Promise<Ended>;

async function stepThrough(run: Run, work: string, appliesWithVariables: boolean): Promise<Lifecycle> {
  const variables = `-var-file=${variablesFile}`;
  const initialized = await run('init', '-input=false', '-no-color');
  if (initialized.code !== 0) return failed('plan', initialized);
  const planned = await run('plan', '-input=false', '-no-color', '-out=planned', variables);
  if (planned.code !== 0) return failed('plan', planned);
  const plan = parseExactJson((await run('show', '-json', 'planned')).output);
  const applied = await run(
    'apply',
    '-input=false',
    '-no-color',
    ...(appliesWithVariables ? [variables] : []),
    'planned',
  );
  if (applied.code !== 0) return failed('apply', applied, plan);
  const outputs = parseExactJson((await run('output', '-json')).output);
  const state = readState(work);
  const again = await run('plan', '-input=false', '-no-color', '-detailed-exitcode', variables);
  const destroyed = await run('destroy', '-auto-approve', '-input=false', '-no-color', variables);
  return {
    stage: destroyed.code === 0 ? 'done' : 'destroy',
    error: destroyed.code === 0 ? null : firstError(destroyed),
    plan,
    outputs,
    state,
    isSettled: again.code === 0,
  };
}

function failed(stage: Stage, ended: Ended, plan: JsonValue = null): Lifecycle {
  return { stage, error: firstError(ended), plan, outputs: null, state: null, isSettled: null };
}

/** The tool writes no state where a configuration has neither resources nor outputs. */
function readState(work: string): JsonValue {
  try {
    return stateOf(parseExactJson(readFileSync(join(work, 'terraform.tfstate'), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Terraform 1.11 announces the errors of a configuration by an error of its own. */
const isHeading = /^(Terraform|OpenTofu) encountered problems during initiali[sz]ation/;

/** The first error that the tool printed, as its summary. */
function firstError({ output, errors }: Ended): string {
  const text = `${errors}\n${output}`;
  const summaries = [...text.matchAll(/Error: (.*)/g)].map(([, summary = '']) => summary.trim());
  return summaries.find((summary) => !isHeading.test(summary)) ?? summaries[0] ?? text.trim().split('\n').at(-1) ?? '';
}

function runProgram(program: string, given: readonly string[], cwd: string): Promise<Ended> {
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_CONFIG_FILE: writeSettings(cwd),
  };
  return new Promise((resolve) => {
    execFile(program, given, { cwd, env, timeout: withinMs, maxBuffer: maxOutputBytes }, (error, output, errors) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output, errors });
    });
  });
}

/** Providers come from nowhere, as in a worker that has none: a configuration that needs one is left out of the comparison. */
function writeSettings(cwd: string): string {
  const path = join(cwd, '..', 'settings.tfrc');
  writeFileSync(path, `provider_installation {\n  filesystem_mirror {\n    path = "${join(cwd, '..')}"\n  }\n}\n`);
  return path;
}
