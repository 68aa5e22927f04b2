import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Service {
  readonly image: string;
  readonly build?: { readonly args: Record<string, string> };
  readonly user: string;
  readonly entrypoint?: string[];
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly secrets?: string[];
  readonly configs?: { readonly source: string; readonly target: string }[];
  readonly volumes?: string[];
  readonly networks: string[];
  readonly ports?: string[];
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
  readonly cap_add?: string[];
  readonly privileged?: boolean;
  readonly security_opt: string[];
  readonly tmpfs?: string[];
  readonly depends_on?: Record<string, { readonly condition: string }>;
  readonly healthcheck?: { readonly test: string[] };
}

export interface Composition {
  readonly services: Record<string, Service>;
  readonly networks: Record<string, { internal?: boolean } | null>;
  readonly volumes: Record<string, unknown>;
  readonly configs: Record<string, { readonly file: string }>;
  readonly secrets: Record<string, { readonly file: string }>;
}

export function readText(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8');
}

/** Reads docker-compose.yml, resolves its anchors, and replaces every `${NAME:-default}` by its default. */
export function readComposition(): Composition {
  const text = readText('docker-compose.yml').replaceAll(/\$\{[A-Z0-9_]+:-([^}]*)\}/g, '$1');
  return parse(text, { merge: true });
}

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Reads the stages of the Dockerfile by name, the last one as `final`. Joins continued lines and drops comments. */
export function readDockerfile(): { readonly stages: Record<string, Instruction[]>; readonly head: Instruction[] } {
  const lines = readText('Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const head: Instruction[] = [];
  const stages: Record<string, Instruction[]> = {};
  let current = head;
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') current = stages[/ AS (\w+)$/.exec(text)?.[1] ?? 'final'] = [];
    current.push({ name, text: text.replaceAll(/\s+/g, ' ') });
  }
  return { stages, head };
}

/** The text of an instruction that a stage has exactly once. @throws Error if it does not */
export function instruction(stage: Instruction[], name: string): string {
  const found = stage.filter((each) => each.name === name);
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`the stage has ${name} ${found.length} times instead of once`);
  return found[0].text;
}

/** The environment variables that the image sets. */
export function imageEnvironment(stage: Instruction[]): Record<string, string> {
  return Object.fromEntries(
    instruction(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  );
}

export const ownImage = 'delivery-coordinator:local';
