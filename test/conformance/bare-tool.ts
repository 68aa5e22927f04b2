import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { declaresBackend, useLocalBackend } from './backends.ts';
import type { Configuration } from './configurations.ts';
import { type Lifecycle, type Stage, stateOf } from './lifecycle.ts';

/** Runs a configuration as its owner would by hand, in a directory of its own. */

const maxOutputBytes = 64 * 1024 * 1024;
/** A provisioner may try for five minutes to connect. */
const withinMs = 600_000;
const variablesFile = 'conformance.tfvars.json';

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** What both sides of a comparison run with. */
export interface BareTool {
  readonly path: string;
  /** A filesystem mirror of providers: they come from nowhere else. */
  readonly mirror: string;
}

/** @param directory an empty directory for this configuration */
export async function runBareTool(
  { path, mirror }: BareTool,
  configuration: Configuration,
  directory: string,
): Promise<Lifecycle> {
  const copy = join(directory, 'work');
  mkdirSync(copy, { recursive: true });
  // What a tool recorded in a working directory is no part of a version.
  cpSync(configuration.directory, copy, { recursive: true, filter: (each) => !notCopied.has(basename(each)) });
  const work = join(copy, configuration.path);
  if (declaresBackend(work)) useLocalBackend(work);
  writeFileSync(join(work, variablesFile), JSON.stringify(configuration.variables));
  const settings = join(directory, 'settings.tfrc');
  writeFileSync(settings, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`);
  const run = (...given: string[]) => runProgram(path, given, { cwd: work, settings });
  return stepThrough(run, work, configuration.appliesWithVariables);
}

const notCopied = new Set(['.terraform', '.git', 'case.json']);

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

function runProgram(
  program: string,
  given: readonly string[],
  { cwd, settings }: { readonly cwd: string; readonly settings: string },
): Promise<Ended> {
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_CONFIG_FILE: settings,
  };
  return new Promise((resolve) => {
    execFile(program, given, { cwd, env, timeout: withinMs, maxBuffer: maxOutputBytes }, (error, output, errors) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output, errors });
    });
  });
}
